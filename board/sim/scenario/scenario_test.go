package scenario

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func TestParse(t *testing.T) {
	got, err := Parse("# rain\n- {at: 0s, do: \"set TEMP_ADC 1.5V\"}\n- at: 1.5s\n  do: press BUTTON\n- {at: 1.5s, do: fault AHT20 crc}\n- {at: 1h, do: \"wave POT_ADC sine:0,4095,2s\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Step{
		{At: 0, Op: "set", Name: "TEMP_ADC", Value: "1.5V", Line: 2},
		{At: 1500 * time.Millisecond, Op: "press", Name: "BUTTON", Line: 3},
		{At: 1500 * time.Millisecond, Op: "fault", Name: "AHT20", Value: "crc", Line: 5},
		{At: time.Hour, Op: "wave", Name: "POT_ADC", Value: "sine:0,4095,2s", Line: 6},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := want[1].String(); got != "press BUTTON" {
		t.Errorf("as written: got %q", got)
	}
}

func TestParseRefuses(t *testing.T) {
	const good = "- {at: 1s, do: press BUTTON}\n"
	for text, want := range map[string]string{
		"":                                                  "line 1: a scenario is one list",
		"at: 1s":                                            "line 1: a scenario is a list",
		good + "---\n" + good:                               "line 1: a scenario is one list",
		good + "- press BUTTON":                             "line 2: a step is a mapping",
		good + "- {at: 0s, do: press BUTTON}":               "line 2: this step goes back",
		good + "- {at: 2s, do: press}":                      "line 2: do: \"press\" is not one of",
		good + "- {at: 2s, do: reset}":                      "line 2: do: \"reset\" is not one of",
		good + "- {at: 2s, do: scenario x}":                 "line 2: do: ",
		good + "- {at: 2s, do: 5}":                          "line 2: do must be text",
		good + "- {at: 2, do: press B}":                     "line 2: at must be text",
		good + "- {at: -1s, do: press B}":                   "line 2: at: \"-1s\" is no time",
		good + "- {at: 25h, do: press B}":                   "line 2: at: \"25h\" is no time",
		good + "- {at: 2s, do: press B, x: y}":              "line 2: unknown key \"x\"",
		good + "- {at: 2s}":                                 "line 2: a step needs at and do",
		good + "- {at: 2s, do: &a press B}":                 "line 2: do must be text",
		good + "- {at: 2s, at: 3s}":                         "line 2: ",
		good + "- [[[[[":                                    "line 2: brackets nest",
		good + strings.Repeat(" ", 17) + "- x":              "line 2: a line has at most",
		strings.Repeat("#", limits.SimScenarioBytes+1):      "line 1: a scenario has at most",
		strings.Repeat("- {at: 1s, do: press B}\n", 513):    "line 513: a scenario has at most 512 steps",
		"- {at: 1s, do: " + strings.Repeat("x", 1024) + "}": "line 1: a line has at most",
	} {
		if _, err := Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: got %v want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "- {at: 1s, do: press BUTTON}", "- at: 1.5s\n  do: set A 1\n", "- [", "a: &b *b", "- ? x\n", "\t- !!str x", "- {at: 1s, do: |\n x}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("an error without a line: %v", err)
			}
			return
		}
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		last := Step{Line: 1}
		for _, s := range steps {
			if s.At < last.At || s.At > longest || s.Line < last.Line || s.Line > lines || s.Name == "" || !slices.Contains(Operations, s.Op) {
				t.Errorf("step %+v after %+v in %d lines", s, last, lines)
			}
			last = s
		}
	})
}
