package core

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

func TestMainRuns(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		check(t, r.flash.Write(flash.Full, "/boot.py", []byte("boot")))
		check(t, r.flash.Write(flash.Full, "/main.py", []byte("main")))
		r.agent.taught("boot", func(*guest) *hw.Exception { return &hw.Exception{Class: "ValueError", Message: "no", Line: 3} })
		main := r.hold("main")
		r.core.RunMain()
		<-main.running
		wantStrings(t, "ran", r.agent.codes(), "boot", "main")
		if ended := r.seen("main_ended"); len(ended) != 1 || !strings.Contains(ended[0], `"class":"ValueError"`) || !strings.Contains(ended[0], `"line":3`) {
			t.Errorf("got %q, want boot.py's exception", ended)
		}
		// A client comes first.
		c := r.dial(r.bot)
		c.exec("1", "print")
		r.agent.taught("print", func(*guest) *hw.Exception { return nil })
		c.wantCode("1", "")
		synctest.Wait()
		ended := r.seen("main_ended")
		if len(ended) != 2 || !strings.Contains(ended[1], "gives way") || !strings.Contains(ended[1], `"file":"/main.py"`) {
			t.Errorf("got %q, want main.py to have given way", ended)
		}
		// So does the e-stop.
		r.core.RunMain()
		<-main.running
		check(t, r.core.Stop("somebody", "test"))
		synctest.Wait()
		if ended := r.seen("main_ended"); len(ended) != 4 || !strings.Contains(ended[3], "e-stop") {
			t.Errorf("got %q, want main.py ended by the e-stop", ended)
		}
	})
}

// Of what it printed the end is told, where an exception says what went wrong.
func TestMainOutput(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		check(t, r.flash.Write(flash.Full, "/main.py", []byte("main")))
		r.agent.taught("main", func(g *guest) *hw.Exception {
			g.print("begin" + strings.Repeat("ä", limits.ReasonBytes) + "end")
			g.sink.Output(hw.Stderr, []byte("short"))
			return nil
		})
		r.core.RunMain()
		synctest.Wait()
		ended := r.seen("main_ended")
		if len(ended) != 1 || strings.Contains(ended[0], "begin") || !strings.Contains(ended[0], `äend"`) || !strings.Contains(ended[0], `"stderr":"short"`) {
			t.Fatalf("got %q, want the ends of the output", ended)
		}
		if n := strings.Count(ended[0], "ä"); n != (limits.ReasonBytes-3)/2 {
			t.Errorf("got %d letters of the output, want what fits %d bytes", n, limits.ReasonBytes)
		}
	})
}

// It runs with the fewest rights that a part of it was written with.
func TestMainRights(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		check(t, r.flash.Write(flash.Full, "/boot.py", []byte("boot")))
		check(t, r.flash.Write(flash.Reading, "/main.py", []byte("main")))
		drives := func(g *guest) *hw.Exception { return g.drive("LED", 1) }
		r.agent.taught("boot", drives)
		r.agent.taught("main", drives)
		r.core.RunMain()
		synctest.Wait()
		r.wantLevel("code that may not drive", "LED", 0)
		for _, data := range r.seen("main_ended") {
			if !strings.Contains(data, `"code":"`+string(protocol.CodeDenied)+`"`) {
				t.Errorf("got %s, want the drive refused", data)
			}
		}
		check(t, r.flash.Write(flash.Full, "/main.py", []byte("main")))
		r.core.RunMain()
		synctest.Wait()
		r.wantLevel("code that may drive", "LED", 1)
		check(t, r.flash.Write(flash.Full, "/boot.py", make([]byte, limits.CodeBytes+1)))
		r.core.RunMain()
		synctest.Wait()
		if got := r.seen("main_ended"); !strings.Contains(got[len(got)-1], "not run") {
			t.Errorf("too long: got %s", got[len(got)-1])
		}
	})
}
