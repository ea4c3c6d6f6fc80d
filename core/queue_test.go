package core

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

func ms(n int64) *int64 { return &n }

func TestQueuePerConnection(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		c := r.dial(r.bot)
		c.exec("run", "hold")
		<-h.running
		for i := range limits.RequestsPerConn {
			c.exec(fmt.Sprint(i), hwtest.Hello)
		}
		c.exec("over", hwtest.Hello)
		if res := c.wantCode("over", protocol.CodeBusy); !res.Retryable {
			t.Error("busy: got not retryable")
		}
		close(h.release)
		c.wantCode("run", "")
		for i := range limits.RequestsPerConn { // in the order of arrival
			c.wantCode(fmt.Sprint(i), "")
		}
		// What was busy was not remembered: even other bytes may come under the same id.
		c.exec("over", "other")
		c.wantCode("over", "")
	})
}

func TestQueuePerTerminal(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		first := r.dial(r.bot)
		first.exec("run", "hold")
		<-h.running
		const each = limits.RequestsPerTerminal / 4
		var clients []*client
		for range 4 {
			c := r.dial(r.bot)
			clients = append(clients, c)
			for i := range each {
				c.exec(fmt.Sprint(i), "ok")
			}
			synctest.Wait()
		}
		late := r.dial(r.human)
		late.exec("1", "ok")
		late.wantCode("1", protocol.CodeBusy)
		late.request("status", "2", nil)
		if st, ok := late.read().(*protocol.Status); !ok || st.Waiting != limits.RequestsPerTerminal || st.Running == nil || *st.Running.ID != "run" {
			t.Errorf("status: got %+v, want %d waiting and run running", st, limits.RequestsPerTerminal)
		}
		close(h.release)
		first.wantCode("run", "")
		for _, c := range clients {
			for i := range each {
				c.wantCode(fmt.Sprint(i), "")
			}
		}
	})
}

func TestStopOnError(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		c, other := r.dial(r.bot), r.dial(r.human)
		c.exec("run", "hold")
		<-h.running
		c.request("exec", "fail", &protocol.Exec{Code: hwtest.Fail, StopOnError: true})
		c.exec("same", "ok")
		c.request("exec", "elsewhere", &protocol.Exec{Code: "ok", Session: "elsewhere"})
		synctest.Wait()
		other.exec("theirs", "ok") // another actor's session of the same name
		synctest.Wait()
		close(h.release)
		c.wantCode("run", "")
		if res := c.wantCode("fail", protocol.CodePythonError); res.Exception.Class != "ValueError" || res.Exception.Line != 2 {
			t.Errorf("exception: got %+v, want ValueError on line 2", res.Exception)
		}
		c.wantCode("same", protocol.CodeInterrupted)
		c.wantCode("elsewhere", "")
		other.wantCode("theirs", "")
	})
}

func TestTTL(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		c := r.dial(r.bot)
		c.exec("run", "hold")
		<-h.running
		c.request("exec", "late", &protocol.Exec{Code: "late", TTLMS: ms(999)})
		c.request("exec", "just", &protocol.Exec{Code: "just", TTLMS: ms(1000)})
		synctest.Wait()
		pass(time.Second)
		close(h.release)
		c.wantCode("run", "")
		c.wantCode("late", protocol.CodeExpired)
		c.wantCode("just", "")
		if got := r.agent.codes(); slices.Contains(got, "late") {
			t.Errorf("ran %q, want nothing that has expired", got)
		}
	})
}

func TestExecTimeout(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		start := time.Now()
		c.exec("default", hwtest.Endless)
		if res := c.wantCode("default", protocol.CodeDeadline); res.Rung != 1 || res.VMRestarted || time.Since(start) != limits.ExecTimeoutDefault {
			t.Errorf("default deadline: got rung %d, restarted %v after %v, want rung 1 after %v", res.Rung, res.VMRestarted, time.Since(start), limits.ExecTimeoutDefault)
		}
		start = time.Now()
		c.request("exec", "deaf", &protocol.Exec{Code: hwtest.Swallow, TimeoutMS: ms(100)})
		if res := c.wantCode("deaf", protocol.CodeDeadline); res.Rung != 2 || !res.VMRestarted || time.Since(start) != 100*time.Millisecond+limits.InterruptGrace {
			t.Errorf("deaf program: got rung %d, restarted %v after %v, want rung 2 and a new machine after the grace", res.Rung, res.VMRestarted, time.Since(start))
		}
		longest := r.desc.MaxExec.Milliseconds()
		for _, n := range []int64{longest + 1, longest + 1<<40} {
			c.request("exec", "much", &protocol.Exec{Code: "ok", TimeoutMS: &n})
			c.wantCode("much", protocol.CodeBadRequest)
		}
		c.request("exec", "most", &protocol.Exec{Code: "ok", TimeoutMS: &longest})
		c.wantCode("most", "")
		c.request("exec", "dry", &protocol.Exec{Code: "ok", DryRun: true})
		c.wantCode("dry", protocol.CodeUnavailable)
	})
}

func TestInterrupt(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		c := r.dial(r.bot, "maker")
		stranger := r.dial(r.token("stranger", identity.Agent, identity.Read, identity.Exec), "maker")
		person := r.dial(r.human)
		n := 0
		interrupt := func(who *client, target string, want protocol.Code) {
			t.Helper()
			n++
			id := fmt.Sprint("i", n)
			who.request("interrupt", id, &protocol.Target{Target: target})
			if want == "" {
				who.ack(id)
				return
			}
			who.wantCode(id, want)
		}
		running := func() string {
			t.Helper()
			<-h.running
			synctest.Wait()
			return r.core.snapshot.Load().Running.Trace
		}
		c.exec("1", "hold")
		trace := running()
		c.exec("2", "ok")
		synctest.Wait()
		interrupt(stranger, "1", protocol.CodeNotFound)
		interrupt(stranger, trace, protocol.CodeNotFound)
		interrupt(person, "1", protocol.CodeNotFound) // ids are the client's own
		interrupt(person, trace, "")
		if res := c.wantCode("1", protocol.CodeInterrupted); res.Rung != 1 || res.Trace != trace {
			t.Errorf("interrupted by a person: got rung %d trace %s, want rung 1 of %s", res.Rung, res.Trace, trace)
		}
		c.wantCode("2", "")

		c.exec("3", "hold")
		running()
		c.exec("4", "ok")
		again := r.dial(r.bot, "maker") // the same client on another connection
		synctest.Wait()
		interrupt(again, "4", "") // waiting
		c.wantCode("4", protocol.CodeInterrupted)
		interrupt(again, "3", "") // running
		c.wantCode("3", protocol.CodeInterrupted)
		interrupt(again, "3", protocol.CodeNotFound)
		if got := r.agent.codes(); !slices.Equal(got, []string{"hold", "ok", "hold"}) {
			t.Errorf("ran %q, want nothing that was interrupted while it waited", got)
		}
	})
}

func TestClientVanishes(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		c := r.dial(r.bot, "maker")
		c.exec("1", "hold")
		<-h.running
		c.exec("2", "waits")
		c.request("exec", "3", &protocol.Exec{Code: "kept", Detach: true})
		synctest.Wait()
		c.leave()
		synctest.Wait()
		again := r.dial(r.bot, "maker")
		for id, want := range map[string]protocol.Code{"1": protocol.CodeInterrupted, "2": protocol.CodeInterrupted, "3": ""} {
			again.request("fetch", "f"+id, &protocol.Target{Target: id})
			again.wantCode("f"+id, want)
		}
		if got := r.agent.codes(); !slices.Equal(got, []string{"hold", "kept"}) {
			t.Errorf("ran %q, want what was left waiting dropped unless detached", got)
		}
	})
}

func TestDetach(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		c := r.dial(r.bot, "maker")
		c.request("exec", "1", &protocol.Exec{Code: "hold", Detach: true})
		<-h.running
		c.leave()
		again := r.dial(r.bot, "maker")
		again.request("fetch", "f", &protocol.Target{Target: "1"})
		again.wantCode("f", protocol.CodeBusy)
		thief := r.dial(r.human, "maker")
		thief.request("fetch", "f", &protocol.Target{Target: "1"})
		thief.wantCode("f", protocol.CodeNotFound)
		close(h.release)
		synctest.Wait()
		again.request("fetch", "g", &protocol.Target{Target: "1"})
		again.wantCode("g", "")
		// Without a name of its own a client's ids end with its connection.
		nameless := r.dial(r.bot)
		nameless.request("fetch", "f", &protocol.Target{Target: "1"})
		nameless.wantCode("f", protocol.CodeNotFound)
	})
}

func TestDuplicates(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		a, b := r.dial(r.bot, "maker"), r.dial(r.bot, "maker")
		a.exec("1", "hold")
		<-h.running
		b.exec("1", "hold")
		synctest.Wait()
		b.exec("1", "other")
		b.wantCode("1", protocol.CodeIDReused)
		close(h.release)
		first, _ := a.raw()
		second, _ := b.raw()
		if first != second || first == "" {
			t.Errorf("the same request twice: got\n%s\n%s\nwant the same bytes", first, second)
		}
		b.exec("1", "hold")
		if third, _ := b.raw(); third != first {
			t.Errorf("once more: got %s, want the stored answer", third)
		}
		// Other types are remembered by the same rule; what was not admitted is not.
		a.request("pin_set", "2", &protocol.PinSet{Pin: "LED", Value: 1})
		a.wantCode("2", "")
		check(t, r.table.Close())
		a.request("pin_set", "3", &protocol.PinSet{Pin: "LED", Value: 1})
		a.wantCode("3", protocol.CodeUnavailable)
		a.request("pin_set", "3", &protocol.PinSet{Pin: "LED", Value: 0})
		a.wantCode("3", protocol.CodeUnavailable) // not id_reused
		a.request("pin_set", "2", &protocol.PinSet{Pin: "LED", Value: 1})
		a.wantCode("2", "")
		if got := r.agent.codes(); !slices.Equal(got, []string{"hold"}) {
			t.Errorf("ran %q, want the request once", got)
		}
	})
}

// An exec that ran is remembered whatever came of it; one that no machine could be had for may be sent again.
func TestWhatRanIsRemembered(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot, "maker")
		r.agent.setDown("out of order")
		c.exec("1", hwtest.Hello)
		c.wantCode("1", protocol.CodeUnavailable)
		r.agent.setDown("")
		c.exec("1", hwtest.Hello)
		c.wantCode("1", "")

		runs := 0
		r.agent.taught("fault", func(g *guest) *hw.Exception {
			runs++
			_ = r.table.Close() // the code of what follows is unavailable
			return g.drive("LED", 1)
		})
		for range 2 {
			c.exec("2", "fault")
			c.wantCode("2", protocol.CodeUnavailable)
		}
		if runs != 1 {
			t.Errorf("a program that ran into %s: ran %d times for one id, want once", protocol.CodeUnavailable, runs)
		}
	})
}

func TestSessions(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		n := 0
		run := func(session, code string, want protocol.Code) {
			t.Helper()
			n++
			c.request("exec", fmt.Sprint(n), &protocol.Exec{Code: code, Session: session})
			c.wantCode(fmt.Sprint(n), want)
		}
		reset := func(session string) {
			t.Helper()
			n++
			c.request("reset", fmt.Sprint(n), &protocol.Reset{Session: session})
		}
		run("", hwtest.Keep, "")
		run("main", hwtest.Show, "") // the default by its name
		run("new", hwtest.Show, protocol.CodePythonError)
		run("new", hwtest.Keep, "")
		run("new", hwtest.Show, protocol.CodePythonError)
		reset("main")
		c.ack(fmt.Sprint(n))
		reset("main")
		c.wantCode(fmt.Sprint(n), protocol.CodeNotFound)
		run("main", hwtest.Show, protocol.CodePythonError)

		run("s0", hwtest.Keep, "")
		for i := 1; i < limits.SessionsPerActor; i++ { // main is the one that goes
			run(fmt.Sprint("s", i), "ok", "")
		}
		run("s0", hwtest.Show, "") // and is used now
		run("s16", "ok", "")       // s1 goes
		wantStrings(t, "dropped", r.seen("session_dropped"), `{"actor":"local-agent","cause":"limit","session":"main"}`, `{"actor":"local-agent","cause":"limit","session":"s1"}`)
		run("s0", hwtest.Show, "")
		jobs := r.agent.ran()
		if last := jobs[len(jobs)-2]; len(last.Drop) != 1 {
			t.Errorf("job after a drop: got Drop %q, want the dropped namespace", last.Drop)
		}
		if spaces := len(r.agent.spaces); spaces != limits.SessionsPerActor {
			t.Errorf("namespaces in the machine: got %d, want %d", spaces, limits.SessionsPerActor)
		}
	})
}

// A machine that could not be told to forget a session must not bring its names back.
func TestForgetIsNotLost(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		c.exec("1", hwtest.Keep)
		c.wantCode("1", "")
		c.request("reset", "2", &protocol.Reset{Session: "main"})
		c.ack("2")
		r.agent.setDown("out of order")
		c.exec("3", "ok")
		c.wantCode("3", protocol.CodeUnavailable)
		r.agent.setDown("")
		c.exec("4", hwtest.Show)
		c.wantCode("4", protocol.CodePythonError)
		if got := len(r.agent.spaces); got != 1 {
			t.Errorf("namespaces: got %d, want the old one forgotten in the end", got)
		}
	})
}

func TestReset(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		c := r.dial(r.bot)
		c.exec("1", hwtest.Keep)
		c.wantCode("1", "")
		r.agent.taught("led", func(g *guest) *hw.Exception { return g.drive("LED", 1) })
		c.exec("2", "led")
		c.wantCode("2", "")
		c.exec("3", "hold")
		<-h.running
		before := -1 // the light when the machine goes
		r.agent.atReset = func() { before = r.level("LED") }
		// What was sent behind a reset runs after it, and its outputs are not made safe by it.
		c.request("reset", "4", &protocol.Reset{})
		c.exec("5", hwtest.Show)
		c.exec("6", "led")
		c.wantCode("3", protocol.CodeInterrupted)
		c.ack("4")
		c.wantCode("5", protocol.CodePythonError)
		if res := c.wantCode("6", ""); len(res.Effects) != 1 || res.Effects[0].From != 0 {
			t.Errorf("effects after a reset: got %+v, want the light from 0 to 1", res.Effects)
		}
		r.wantLevel("driven after the reset", "LED", 1)
		if before != 0 {
			t.Errorf("when the machine was replaced the light had level %d, want it safe before", before)
		}
		if len(r.seen("core1_restarted")) != 1 {
			t.Errorf("got events %q, want one core1_restarted", r.seen("core1_restarted"))
		}
		// More resets than may wait are refused, and stop is heard behind them.
		slow := make(chan struct{})
		r.agent.taught("slow", func(g *guest) *hw.Exception { <-slow; return nil })
		c.exec("7", "slow")
		synctest.Wait()
		for i := range limits.RequestsPerTerminal + 1 {
			c.request("reset", fmt.Sprint("r", i), &protocol.Reset{})
		}
		c.wantCode(fmt.Sprint("r", limits.RequestsPerTerminal), protocol.CodeBusy)
		c.request("stop", "8", &protocol.Stop{})
		c.ack("8")
		r.wantLevel("stopped behind a reset", "LED", 0)
		close(slow)
		c.wantCode("7", "")
		for i := range limits.RequestsPerTerminal {
			c.ack(fmt.Sprint("r", i))
		}
	})
}
