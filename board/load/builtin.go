package load

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/pal-terminal/pal/board"
)

// profiles holds the built-in boards: NAME.yaml, with the board.py of each as NAME.py.
//
//go:embed profiles/*.yaml profiles/*.py
var profiles embed.FS

// Names returns the names of the built-in boards, sorted.
func Names() []string {
	entries, err := profiles.ReadDir("profiles")
	if err != nil {
		return nil // an embedded folder always reads; a test holds Names to bench-sim
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Builtin returns a new description of a built-in board.
func Builtin(name string) (*board.Description, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("no built-in board %q (there are: %s)", name, strings.Join(Names(), ", "))
	}
	src, err := profiles.ReadFile("profiles/" + name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read built-in board: %w", err)
	}
	return parse(name+".yaml", src, func(string) ([]byte, error) {
		return profiles.ReadFile("profiles/" + name + ".py")
	})
}
