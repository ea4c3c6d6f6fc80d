package code

import (
	"strings"
	"testing"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
)

func TestToolArgs(t *testing.T) {
	for _, c := range []struct{ object, words, want string }{
		{"", "", `{}`},
		{"", "n=1 on=true name=LED", `{"n":1,"name":"LED","on":true}`},
		{"", `a=[1,2] b="2" c=null d=1.5e3 e= f=x=y`, `{"a":[1,2],"b":"2","c":null,"d":1.5e3,"e":"","f":"x=y"}`},
		{"", "t=True v=01 w={", `{"t":"True","v":"01","w":"{"}`},
		{`{"a": 1}`, "b=2", `{"a":1,"b":2}`},
		{`{"a": 1}`, "a=2", ""},
		{"", "a=1 a=1", ""},
		{"", "a", ""},
		{"", "=1", ""},
		{"[1]", "", ""},
		{"null", "", ""},
		{"{", "", ""},
		{"", "a=\xff", ""},
	} {
		got, err := toolArgs(c.object, strings.Fields(c.words))
		if string(got) != c.want || (err == nil) != (c.want != "") || err != nil && cli.ExitCode(err) != cli.ExitUsage {
			t.Errorf("toolArgs(%q, %q): got %s, %v, want %s", c.object, c.words, got, err, c.want)
		}
	}
}
