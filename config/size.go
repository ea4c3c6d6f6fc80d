package config

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Size is a number of bytes, written as a plain number or with KiB or MiB: 1048576, 512KiB, 2MiB.
type Size int64

// ParseSize reads a size.
func ParseSize(text string) (Size, error) {
	digits, unit := text, int64(1)
	for suffix, bytes := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20} {
		if d, found := strings.CutSuffix(text, suffix); found {
			digits, unit = strings.TrimSuffix(d, " "), bytes
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > (1<<62)/unit {
		return 0, fmt.Errorf("%q is not a size such as 1048576, 512KiB or 2MiB", text)
	}
	return Size(n * unit), nil
}

// String writes the size with the largest unit that divides it.
func (s Size) String() string {
	switch {
	case s != 0 && s%(1<<20) == 0:
		return strconv.FormatInt(int64(s>>20), 10) + "MiB"
	case s != 0 && s%(1<<10) == 0:
		return strconv.FormatInt(int64(s>>10), 10) + "KiB"
	default:
		return strconv.FormatInt(int64(s), 10)
	}
}

// Set reads a flag's value.
func (s *Size) Set(text string) (err error) {
	*s, err = ParseSize(text)
	return err
}

// Type names the value in a command's help.
func (s *Size) Type() string { return "size" }

// UnmarshalYAML reads a scalar of a configuration file.
func (s *Size) UnmarshalYAML(node ast.Node) error {
	text := node.String()
	if plain, ok := node.(*ast.StringNode); ok {
		text = plain.Value // without its quotes
	}
	if err := s.Set(text); err != nil {
		return &yaml.SyntaxError{Message: err.Error(), Token: node.GetToken()}
	}
	return nil
}
