package pin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

const lendBoard = `board: lend
pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 1, name: TEMP, owner: guard, can: [adc]}
  - {id: 2, name: DOOR, owner: guard, can: [in], pull: up}
  - {id: 3, name: LEFT, owner: agent, can: [out, bitstream], safe: low, interlock: [RIGHT]}
  - {id: 4, name: RIGHT, owner: agent, can: [out, bitstream], safe: low}
  - {id: 5, name: PUMP, owner: agent, can: [out, bitstream], safe: low, requires: DOOR}
  - {id: 6, name: SLOW, owner: agent, can: [out, bitstream], safe: low, min_off: 1s}
  - {id: 7, name: MAIN, owner: agent, can: [out, bitstream], safe: low, danger: high}
  - {id: 8, name: STRIP, owner: agent, can: [in, out, bitstream], safe: low, max_on: 100ms}
  - {id: 9, name: BARE, owner: agent, can: [in, bitstream]}
  - {id: 10, name: OTHER, owner: agent, can: [in, out], safe: low}
  - {id: 11, name: GATE, owner: agent, can: [in, uart]}
  - {id: 13, name: RATED, owner: agent, can: [out, bitstream], safe: low, max_rate: 100/s}
  - {id: 12, name: FAN, owner: agent, can: [out], safe: low, requires: GATE}
devices:
  - {type: adc, pin: TEMP, value: 100}
`

func (r *rig) lendTo(c Caller, name string, fn func(context.Context) error) error {
	h, ok := r.d.Lookup(name)
	if !ok {
		r.t.Fatalf("no pin %s", name)
	}
	_, err := r.Lend(context.Background(), c, Handle(h), board.CapBitstream, time.Second, fn)
	return err
}

// TestLendIsADrive: every rule that can refuse to switch an output on refuses to lend it, before fn is called.
func TestLendIsADrive(t *testing.T) {
	for name, hook := range map[string]func(string, int) error{"direct": nil, "workers": noWait} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, lendBoard, hook)
			defer r.end()
			never := func(context.Context) error {
				t.Error("a line was lent against the rules")
				return nil
			}
			r.set("RIGHT", 1)
			r.world("set", "DOOR", "0")
			asking := agent
			asking.Ask = true
			for name, rule := range map[string]string{
				"BOOT": RuleSystemPin, "DOOR": RuleGuardPin, "LEFT": RuleInterlock, "PUMP": RuleRequires, "SLOW": RuleMinOff, "RATED": RuleMaxRate,
				"MAIN": RuleDanger, "BARE": RuleCapability, "OTHER": RuleCapability,
			} {
				refused(t, r.lendTo(asking, name, never), rule)
			}
			refused(t, r.lendTo(reader, "STRIP", never), RuleScope)
			r.set("RIGHT", 0)
			err := r.lendTo(agent, "LEFT", func(context.Context) error {
				refused(t, r.tryOn("RIGHT"), RuleInterlock)
				refused(t, r.tryOn("LEFT"), RuleBusy)
				_, err := r.Configure(agent, r.h("LEFT"), hw.ModeOut, hw.PullNone, 0)
				refused(t, err, RuleBusy)
				refused(t, r.lendTo(agent, "LEFT", never), RuleBusy)
				return errBroken
			})
			if !errors.Is(err, errBroken) {
				t.Errorf("got %v want what fn said", err)
			}
			if got := r.Snapshot()[r.h("LEFT")]; got.On || got.Fault != "" {
				t.Errorf("afterwards: got %+v", got)
			}
			r.set("RIGHT", 1)
			_ = r.Stop("test")
			refused(t, r.lendTo(agent, "STRIP", never), RuleEstop)
		})
	}
}

// TestLendEndsByMaxOn: the time of an output binds protocols as well.
func TestLendEndsByMaxOn(t *testing.T) {
	inBubbleOn(t, lendBoard, func(t *testing.T, r *rig) {
		start := time.Now()
		err := r.lendTo(agent, "STRIP", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
		if took := time.Since(start); took != 100*time.Millisecond || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v after %s", err, took)
		}
		if got := r.Snapshot()[r.h("STRIP")]; got.On || got.Fault != "" || got.Level != 0 {
			t.Errorf("afterwards: got %+v", got)
		}
	})
}

// TestLentLineIsOn until its protocol has ended, also when it was driven safe meanwhile.
func TestLentLineIsOn(t *testing.T) {
	inBubbleOn(t, lendBoard, func(t *testing.T, r *rig) {
		deaf, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			ended <- r.lendTo(agent, "LEFT", func(context.Context) error {
				<-deaf
				return nil
			})
		}()
		pass(time.Millisecond)
		if got := r.Safe("test", func(Driven) bool { return true }); len(got) != 1 || got[0].To != 0 {
			t.Errorf("got %+v", got)
		}
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
		close(deaf)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.set("RIGHT", 1)
	})
}

// TestLendOfAMachineThatIsGone ends with it, and who drives the line next is not undone.
func TestLendOfAMachineThatIsGone(t *testing.T) {
	inBubbleOn(t, lendBoard, func(t *testing.T, r *rig) {
		ended := make(chan error, 1)
		go func() {
			ended <- r.lendTo(agent, "RIGHT", func(ctx context.Context) error {
				<-ctx.Done()
				return nil
			})
		}()
		pass(time.Millisecond)
		r.Safe("gone", func(d Driven) bool { return d.Caller.Run == agent.Run })
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.set("RIGHT", 1)
		pass(time.Second)
		if got := r.line("RIGHT"); got != 1 {
			t.Errorf("the next drive was undone: got %d", got)
		}
	})
}

func TestHoldRefused(t *testing.T) {
	for name, hook := range map[string]func(string, int) error{"direct": nil, "workers": noWait} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, lendBoard, hook)
			defer r.end()
			hold := func(c Caller, o Holding, names ...string) error {
				var lines []Handle
				for _, name := range names {
					h, _ := r.d.Lookup(name)
					lines = append(lines, Handle(h))
				}
				release, err := r.Hold(c, o, lines)
				if err == nil {
					release()
				}
				return err
			}
			bus := Holding{Name: "spi9", Free: "SPI.deinit()", Drive: true}
			r.set("RIGHT", 1)
			for name, rule := range map[string]string{
				"BOOT": RuleSystemPin, "DOOR": RuleGuardPin, "LEFT": RuleCapability, "SLOW": RuleCapability, "RIGHT": RuleCapability,
				"GATE": RuleGuardPin,
			} {
				refused(t, hold(agent, bus, "OTHER", name), rule)
			}
			r.set("OTHER", 1)
			refused(t, hold(agent, bus, "BARE", "OTHER"), RuleInUse)
			r.set("OTHER", 0)
			refused(t, hold(reader, bus, "OTHER"), RuleScope)
			release, err := r.Hold(agent, bus, []Handle{r.h("OTHER"), r.h("BARE")})
			if err != nil {
				t.Fatal(err)
			}
			f := refused(t, r.tryOn("OTHER"), RuleInUse)
			if f.Holder != "spi9" || f.Errno != 16 || !strings.Contains(f.Message, "SPI.deinit()") {
				t.Errorf("got %+v", f)
			}
			refused(t, hold(agent, bus, "OTHER"), RuleInUse)
			refused(t, r.lendTo(agent, "BARE", nil), RuleCapability)
			_ = r.Stop("test") // leaves the lines of buses alone
			if got := r.Snapshot()[r.h("OTHER")]; got.Mode != hw.ModeBus {
				t.Errorf("after a stop: got %+v", got)
			}
			refused(t, hold(agent, bus, "OTHER"), RuleEstop)
			release()
			if got := r.Snapshot()[r.h("OTHER")]; got.Mode != hw.ModeOut || got.On || got.Level != 0 {
				t.Errorf("released: got %+v", got)
			}
		})
	}
}
