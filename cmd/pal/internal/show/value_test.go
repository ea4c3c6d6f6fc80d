package show_test

import (
	"testing"

	"github.com/pal-terminal/pal/cmd/pal/internal/show"
)

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"main.py": "main.py", "ünï 文.txt": "ünï 文.txt", "a\x1b[2Jb": `"a\x1b[2Jb"`, "a\nb": `"a\nb"`, "": "", "a\u202eb": `"a\u202eb"`,
	} {
		if got := show.Name(name); got != want {
			t.Errorf("Name(%q): got %s, want %s", name, got, want)
		}
	}
}
