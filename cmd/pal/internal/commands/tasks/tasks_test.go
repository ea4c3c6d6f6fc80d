package tasks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

func ms(n int64) *int64 { return &n }

// The command line of `pal task add` as the registration that it sends.
func TestRequest(t *testing.T) {
	for _, c := range []struct {
		line string
		want protocol.Brief // without a name: refused
	}{
		{"--name a --every 200ms --code x", protocol.Brief{Name: "a", IntervalMS: ms(200)}},
		{"--name a --after 0s --code x", protocol.Brief{Name: "a", AfterMS: ms(0)}},
		{"--name a --cron @daily --tz UTC --misfire all --code x", protocol.Brief{Name: "a", Cron: "@daily", TimeZone: "UTC", Misfire: "all"}},
		{
			"--name a --at 2026-12-24T18:00:00Z --persistent --timeout 1s --jitter 5ms --max-runs 3 --on-hub-loss hold --resource R --resource T:read --code x",
			protocol.Brief{
				Name: "a", At: "2026-12-24T18:00:00Z", Storage: "persistent", TimeoutMS: ms(1000), JitterMS: ms(5), MaxRuns: ms(3), OnHubLoss: "hold",
				Resources: []protocol.ResourceUse{{Resource: "R"}, {Resource: "T", Verb: "read"}},
			},
		},
		{"--name a --every 1500us --code x", protocol.Brief{}},
		{"--name a --every -1s --code x", protocol.Brief{}},
		{"--name a --every 1s --timeout 0s --code x", protocol.Brief{}},
		{"--name a --every 1s --resource :read --code x", protocol.Brief{}},
		{"--name a --every 1s --resource R:write --code x", protocol.Brief{}},
	} {
		cmd, f := &cobra.Command{}, &addFlags{}
		f.flags(cmd)
		if err := cmd.ParseFlags(strings.Fields(c.line)); err != nil {
			t.Fatalf("%s: %v", c.line, err)
		}
		got, err := f.request(&cli.App{}, cmd, nil)
		if c.want.Name == "" {
			if cli.ExitCode(err) != cli.ExitUsage {
				t.Errorf("%s: got %v, want a usage error", c.line, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if d := cmp.Diff(protocol.Register{Brief: &c.want, Code: "x"}, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.line, d)
		}
	}
}

func TestSchedule(t *testing.T) {
	for want, brief := range map[string]protocol.Brief{
		"every 200ms":                  {IntervalMS: ms(200)},
		"every 1m30s":                  {IntervalMS: ms(90_000)},
		"every 24h":                    {IntervalMS: ms(86_400_000)},
		"every 5m":                     {IntervalMS: ms(300_000)},
		"after 0s":                     {AfterMS: ms(0)},
		"cron 0 7 * * *":               {Cron: "0 7 * * *"},
		"cron 0 7 * * * Europe/Berlin": {Cron: "0 7 * * *", TimeZone: "Europe/Berlin"},
		"at 2026-12-24T18:00:00+01:00": {At: "2026-12-24T18:00:00+01:00"},
	} {
		if got := schedule(&brief); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What a program wrote and what an agent chose cannot move the cursor of whoever looks.
func TestNothingReachesTheScreen(t *testing.T) {
	text := about(&protocol.TaskInfo{Name: "a\x1b[2J", Code: "x\ty\x1b[H\n"}) + runs([]protocol.TaskRun{{Message: "m\r", Stdout: "o\x1b[1A\n", Stderr: "e\a"}})
	if strings.ContainsAny(text, "\x1b\r\a\t") {
		t.Errorf("got %q", text)
	}
	for _, want := range []string{`"a\x1b[2J"`, `  | "x    y\x1b[H"`, `  > "o\x1b[1A"`, `  2 "e\a"`, `  ! "m\r"`} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q in it", text, want)
		}
	}
}
