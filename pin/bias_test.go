package pin

import (
	"testing"

	"github.com/pal-terminal/pal/hw"
)

// TestBiasIsADrive: a pull-up on an output that is made an input lifts its line, and a relay's input stage asks for no more.
func TestBiasIsADrive(t *testing.T) {
	for name, hook := range map[string]func(string, int) error{"direct": nil, "workers": noWait} {
		t.Run(name, func(t *testing.T) {
			r := rigOn(t, builtin(t), hook)
			defer r.end()
			led := r.h("LED") // has no rules
			bias := func(c Caller, pull hw.Pull) error {
				_, err := r.Configure(c, led, hw.ModeIn, pull, -1)
				return err
			}
			lift := func() {
				t.Helper()
				if err := bias(agent, hw.PullUp); err != nil || r.line("LED") != 1 {
					t.Fatalf("pulled up: got level %d, %v, want 1", r.line("LED"), err)
				}
			}
			refused(t, bias(reader, hw.PullUp), RuleScope)
			lift()
			if got := r.Safe("exec_ended", func(d Driven) bool { return d.Caller.Run == agent.Run }); r.line("LED") != 0 {
				t.Errorf("after the end of who pulled it up: got level %d, effects %v", r.line("LED"), got)
			}
			lift()
			r.Stop("test")
			if got := r.line("LED"); got != 0 {
				t.Errorf("after a stop: got level %d", got)
			}
			refused(t, bias(agent, hw.PullUp), RuleEstop)
			if err := r.Clear(); err != nil {
				t.Fatal(err)
			}
			if err := bias(agent, hw.PullDown); err != nil {
				t.Fatal(err)
			}
			refused(t, bias(reader, hw.PullUp), RuleScope) // also of what is an input already
			r.Stop("test")
			refused(t, bias(agent, hw.PullUp), RuleEstop)
			if got := r.line("LED"); got != 0 {
				t.Errorf("pulled down under the latch: got level %d", got)
			}
		})
	}
}

func TestBiasAgainstRules(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for _, name := range []string{"TIMED", "RATED"} {
			_, err := r.Configure(agent, r.h(name), hw.ModeIn, hw.PullUp, -1)
			refused(t, err, RuleBias)
			if got := r.line(name); got != 0 {
				t.Errorf("%s: got level %d", name, got)
			}
			if _, err := r.Configure(agent, r.h(name), hw.ModeIn, hw.PullDown, -1); err != nil {
				t.Errorf("%s pulled to its safe level: got %v", name, err)
			}
		}
	})
}

// TestBiasOnAnOpenDrainLine: a line that was let go follows its bias.
func TestBiasOnAnOpenDrainLine(t *testing.T) {
	r := rigOn(t, builtin(t), nil)
	defer r.end()
	line := r.h("DHT22")
	_, err := r.Configure(agent, line, hw.ModeOpenDrain, hw.PullDown, 1)
	refused(t, err, RuleBias)
	if _, err := r.Configure(agent, line, hw.ModeIn, hw.PullDown, -1); err != nil || r.line("DHT22") != 0 {
		t.Fatalf("pulled down as an input: got level %d, %v, want 0", r.line("DHT22"), err)
	}
	r.Stop("test")
	if got := r.line("DHT22"); got != 1 {
		t.Errorf("after a stop: got level %d, want the line let go and its bias the board's", got)
	}
}

// TestInputOfAnOutput: whoever may not drive takes no output's level away, also when the pin became one in this moment.
func TestInputOfAnOutput(t *testing.T) {
	for name, hook := range map[string]func(string, int) error{"direct": nil, "workers": noWait} {
		t.Run(name, func(t *testing.T) {
			r := rigOn(t, builtin(t), hook)
			defer r.end()
			led := r.h("LED")
			if _, err := r.Write(agent, led, 1); err != nil {
				t.Fatal(err)
			}
			refused(t, r.do(r.pins[led], &request{verb: verbInput, caller: reader, mode: hw.ModeIn}), RuleScope)
			if got := r.line("LED"); got != 1 {
				t.Errorf("got level %d, want it left at 1", got)
			}
		})
	}
}
