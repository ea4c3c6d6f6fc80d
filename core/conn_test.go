package core

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/conns"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// everything is one valid request of each type that the product knows, with the scope it needs; "" is none, "human" a class.
var everything = []struct{ scope, message string }{
	{"", `{"id":"x","type":"hello","client":"c"}`},
	{"", `{"id":"x","type":"ping"}`},
	{"", `{"id":"x","type":"stop"}`},
	{"human", `{"id":"x","type":"estop_clear"}`},
	{"exec", `{"id":"x","code":"ok"}`},
	{"exec", `{"id":"x","type":"exec","code":"ok"}`},
	{"exec", `{"id":"x","type":"interrupt","target":"nothing"}`},
	{"exec", `{"id":"x","type":"reset"}`},
	{"exec", `{"id":"x","type":"reset","session":"none"}`},
	{"read", `{"id":"x","type":"fetch","target":"nothing"}`},
	{"read", `{"id":"x","type":"result","target":"nothing"}`},
	{"read", `{"id":"x","type":"describe"}`},
	{"read", `{"id":"x","type":"status"}`},
	{"read", `{"id":"x","type":"status","task_id":"t"}`},
	{"read", `{"id":"x","type":"pins"}`},
	{"read", `{"id":"x","type":"pin_read","pin":"TEMP_ADC"}`},
	{"read", `{"id":"x","type":"pin_read","pin":"BUTTON"}`},
	{"read", `{"id":"x","type":"pin_read","pin":"nothing"}`},
	{"read", `{"id":"x","type":"board","op":"show"}`},
	{"read", `{"id":"x","type":"board","op":"source"}`},
	{"read", `{"id":"x","type":"subscribe","events":["nothing"]}`},
	{"read", `{"id":"x","type":"unsubscribe"}`},
	{"actuate", `{"id":"x","type":"pin_set","pin":"LED","value":0}`},
	{"admin", `{"id":"x","type":"token","op":"ls"}`},
	{"admin", `{"id":"x","type":"token","op":"revoke","name":"nobody"}`},
	{"admin", `{"id":"x","type":"token","op":"create","name":"Bad Name"}`},
	{"admin", `{"id":"x","type":"sim","op":"ls"}`},
	{"admin", `{"id":"x","type":"conn","op":"ls"}`},
	{"admin", `{"id":"x","type":"conn","op":"kick"}`},
	{"admin", `{"id":"x","type":"conn","op":"kick","conn":999}`},
	{"exec", `{"id":"x","type":"tool","tool":"t"}`},
	{"read", `{"id":"x","type":"watch","pin":"BUTTON"}`},
	{"read", `{"id":"x","type":"unwatch","pin":"BUTTON"}`},
	{"read", `{"id":"x","type":"fs","op":"ls","path":"/"}`},
	{"read", `{"id":"x","type":"fs","op":"df"}`},
	{"exec", `{"id":"x","type":"fs","op":"rm","path":"/none"}`},
	{"exec", `{"id":"x","type":"fs","op":"put","path":"/f","data_b64":""}`},
	{"later", `{"id":"x","type":"node"}`},
}

// answered sends a message and returns the code of its answer.
func (c *client) answered(message string) protocol.Code {
	c.t.Helper()
	c.send(message)
	a := c.read()
	if id := a.Head().ID; id == nil || *id != "x" {
		c.t.Errorf("answer to %s: got %+v, want its id", message, a.Head())
	}
	if res, ok := a.(*protocol.Result); ok {
		return res.Code
	}
	return ""
}

func TestScopes(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		for name, who := range map[string]struct {
			class  identity.Class
			scopes []identity.Scope
		}{
			"reader":   {identity.Agent, []identity.Scope{identity.Read}},
			"runner":   {identity.Agent, []identity.Scope{identity.Exec}},
			"driver":   {identity.Service, []identity.Scope{identity.Actuate}},
			"admin":    {identity.Service, []identity.Scope{identity.Admin}},
			"person":   {identity.Human, []identity.Scope{identity.Read}},
			"everyone": {identity.Human, []identity.Scope{identity.Read, identity.Exec, identity.Actuate, identity.Admin}},
		} {
			token := r.token(name, who.class, who.scopes...)
			for _, req := range everything {
				c := r.dial(token)
				got := c.answered(req.message)
				may := req.scope == "" || req.scope == "human" && who.class == identity.Human || slices.Contains(who.scopes, identity.Scope(req.scope))
				switch {
				case req.scope == "later":
					if got != protocol.CodeUnavailable {
						t.Errorf("%s sends %s: got %q, want %q", name, req.message, got, protocol.CodeUnavailable)
					}
				case may == (got == protocol.CodeDenied):
					t.Errorf("%s sends %s: got code %q, allowed %v", name, req.message, got, may)
				}
				c.leave()
			}
		}
		// Without an identity there is nothing but hello.
		for _, req := range everything {
			c := r.dial("")
			if got := c.answered(req.message); got != protocol.CodeUnauthorized {
				t.Errorf("nobody sends %s: got %q, want %q", req.message, got, protocol.CodeUnauthorized)
			}
			c.leave()
		}
	})
}

func TestHello(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		hello := func(c *client, h protocol.Hello, want protocol.Code) *protocol.Welcome {
			t.Helper()
			c.request("hello", "h", &h)
			a := c.read()
			if want == "" {
				w, ok := a.(*protocol.Welcome)
				if !ok {
					t.Fatalf("hello %+v: got %+v, want welcome", h, a)
				}
				return w
			}
			if res, ok := a.(*protocol.Result); !ok || res.Code != want {
				t.Errorf("hello %+v: got %+v, want %q", h, a, want)
			}
			return nil
		}
		c := r.dial("")
		hello(c, protocol.Hello{}, protocol.CodeUnauthorized)
		hello(c, protocol.Hello{Token: "pal_wrong"}, protocol.CodeUnauthorized)
		hello(c, protocol.Hello{Token: r.bot, Terminal: "another"}, protocol.CodeNotFound)
		c.request("status", "s", nil)
		c.wantCode("s", protocol.CodeUnauthorized)
		if w := hello(c, protocol.Hello{Token: r.bot, Terminal: "rig", Client: "a"}, ""); w.Actor.Name != identity.LocalAgent || w.Terminal != "rig" || w.Conn == 0 || w.Limits["code_bytes"] != limits.CodeBytes {
			t.Errorf("welcome: got %+v", w)
		}
		hello(c, protocol.Hello{Token: r.human}, protocol.CodeDenied) // nobody becomes somebody else
		hello(c, protocol.Hello{Token: r.bot, Client: "b"}, "")
		if w := r.core.slots.List()[0].Who.Load(); w.Client != "b" || w.Actor.Name != identity.LocalAgent {
			t.Errorf("got %+v, want the agent under its new client name", w)
		}
		hello(c, protocol.Hello{}, "") // identified already; its name stays
		pass(10 * limits.HelloTimeout)
		c.exec("1", "ok")
		c.wantCode("1", "")

		silent, mumbling := r.dial(""), r.dial("")
		start := time.Now()
		mumbling.send(`{"type":"ping"}`)
		silent.wantCut("no hello")
		if took := time.Since(start); took != limits.HelloTimeout {
			t.Errorf("silent peer: cut after %v, want %v", took, limits.HelloTimeout)
		}
		mumbling.wantCut("no hello")
		wrong := r.dial("pal_wrong")
		if res, ok := wrong.read().(*protocol.Result); !ok || res.Code != protocol.CodeUnauthorized || res.ID != nil {
			t.Errorf("wrong token in the carrier: got %+v, want unauthorized", res)
		}
		wrong.wantCut("not known")
	})
}

func TestNoAuth(t *testing.T) {
	anybody := identity.Actor{Name: "anybody", Class: identity.Agent, Scopes: []identity.Scope{identity.Exec}}
	bubble(t, options{noAuth: anybody}, func(t *testing.T, r *rig) {
		c := r.dial("")
		c.exec("1", "ok")
		c.wantCode("1", "")
		c.request("hello", "2", &protocol.Hello{Token: r.human})
		c.wantCode("2", protocol.CodeDenied)
		check(t, r.core.Admit(Peer{}))
	})
}

func TestPlaces(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		var regular []*client
		for range limits.Connections {
			c := r.dial(r.bot)
			c.request("ping", "p", nil)
			c.read()
			regular = append(regular, c)
		}
		// The two beyond the limit may stop, and not stay.
		start := time.Now()
		reserved := []*client{r.dial(r.bot), r.dial("")}
		synctest.Wait()
		// One actor does not get both, or it could keep the others' stop out.
		wantRefusal(t, "admit to the second reserved place", r.core.Admit(Peer{Credential: r.bot}), protocol.CodeBusy)
		second := r.dial("")
		second.request("hello", "h", &protocol.Hello{Token: r.bot})
		second.wantCode("h", protocol.CodeBusy)
		second.wantCut("taken")
		check(t, r.core.Admit(Peer{Credential: r.human}))
		reserved[1].request("hello", "h", &protocol.Hello{Token: r.human})
		if _, ok := reserved[1].read().(*protocol.Welcome); !ok {
			t.Error("hello on a reserved place: got no welcome")
		}
		for _, c := range reserved {
			for _, req := range everything {
				want := protocol.CodeBusy
				for _, typ := range []string{"hello", "ping", "stop", `"type":"status"}`} {
					if strings.Contains(req.message, typ) && !strings.Contains(req.message, "estop") {
						want = ""
					}
				}
				if strings.Contains(req.message, "task_id") {
					want = protocol.CodeUnavailable
				}
				if got := c.answered(req.message); got != want {
					t.Errorf("reserved place sends %s: got %q, want %q", req.message, got, want)
				}
			}
		}
		for range 3 {
			c := r.dial(r.bot)
			if res := c.read().(*protocol.Result); res.Code != protocol.CodeBusy {
				t.Errorf("one more: got %+v, want busy", res)
			}
			c.wantCut("taken")
		}
		wantRefusal(t, "admit", r.core.Admit(Peer{Credential: r.bot}), protocol.CodeBusy)
		wantStrings(t, "events", r.seen("connections_refused"), `{"total":1}`) // one a second
		late := r.dial("")
		late.request("hello", "h", &protocol.Hello{Token: r.bot})
		late.wantCode("h", protocol.CodeBusy)
		late.wantCut("taken")
		for _, c := range reserved {
			c.wantCut("for stop and status")
		}
		if took := time.Since(start); took != limits.ReservedLife {
			t.Errorf("reserved places: cut after %v, want %v", took, limits.ReservedLife)
		}
		r.core.Admit(Peer{Credential: r.bot})
		check(t, r.core.Admit(Peer{Credential: r.bot}))
		regular[0].leave()
		synctest.Wait()
		again := r.dial(r.bot)
		again.exec("1", "ok")
		again.wantCode("1", "")
		pass(2 * limits.ReservedLife)
		again.exec("2", "ok")
		again.wantCode("2", "")
	})
}

func wantRefusal(t *testing.T, what string, err error, want protocol.Code) {
	t.Helper()
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok || e.Code != want {
		t.Errorf("%s: got %v, want %q", what, err, want)
	}
}

func TestUnidentifiedPlaces(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		var strangers []*client
		for range limits.Unidentified {
			strangers = append(strangers, r.dial(""))
		}
		synctest.Wait()
		wantRefusal(t, "admit", r.core.Admit(Peer{}), protocol.CodeBusy)
		r.dial("").wantCut("taken")
		// Strangers take no place from those with a name.
		check(t, r.core.Admit(Peer{Credential: r.bot}))
		c := r.dial(r.bot)
		c.exec("1", "ok")
		c.wantCode("1", "")
		strangers[0].request("hello", "h", &protocol.Hello{Token: r.bot})
		strangers[0].read()
		check(t, r.core.Admit(Peer{}))
		wantRefusal(t, "admit with a wrong token", r.core.Admit(Peer{Credential: "pal_wrong"}), protocol.CodeUnauthorized)
	})
}

func TestRevoke(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		admin := r.dial(r.human)
		open := func(token, name string) []*client {
			t.Helper()
			a, b := r.dial(token, name), r.dial("")
			b.request("hello", "h", &protocol.Hello{Token: token})
			b.read()
			a.exec("0", hwtest.Keep)
			a.wantCode("0", "")
			a.request("exec", "1", &protocol.Exec{Code: "hold", Detach: true, TimeoutMS: ms(300_000)}) // nor may what was detached go on
			<-h.running
			b.request("exec", "2", &protocol.Exec{Code: "never", Detach: true})
			synctest.Wait()
			return []*client{a, b}
		}
		gone := func(what string, clients []*client) {
			t.Helper()
			for _, c := range clients {
				c.wantCut("revoked or has expired")
			}
			synctest.Wait()
			if s := r.core.snapshot.Load(); s.Running != nil || s.Waiting != 0 {
				t.Errorf("%s: got %+v running and %d waiting, want nothing", what, s.Running, s.Waiting)
			}
			if n := len(r.core.slots.List()); n != 1 {
				t.Errorf("%s: got %d connections, want the admin's", what, n)
			}
			if got := r.core.queue.sessions.Len(); got != 0 {
				t.Errorf("%s: got sessions of %d actors, want none", what, got)
			}
		}
		clients := open(r.token("temp", identity.Agent, identity.Read, identity.Exec), "first")
		admin.request("token", "1", &protocol.Token{Op: "revoke", Name: "temp"})
		if _, ok := admin.read().(*protocol.Tokens); !ok {
			t.Error("revoke: got no list of tokens")
		}
		gone("revoked", clients)

		token, _, err := r.identity.Create("temp", identity.Agent, []identity.Scope{identity.Read, identity.Exec}, false, time.Minute)
		check(t, err)
		// Whoever has the name next does not find what the last one left.
		c := r.dial(token)
		c.exec("1", hwtest.Show)
		c.wantCode("1", protocol.CodePythonError)
		c.leave()
		start := time.Now()
		clients = open(token, "second")
		gone("expired", clients)
		if took := time.Since(start); took < time.Minute || took > time.Minute+limits.TokenSweep {
			t.Errorf("expired: cut after %v, want a minute and no more than %v", took, limits.TokenSweep)
		}
		if got := r.agent.codes(); slices.Contains(got, "never") {
			t.Errorf("ran %q, want nothing of a revoked actor", got)
		}
	})
}

func TestSimUnknownName(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.human)
		c.request("sim", "1", &protocol.Sim{Op: "show", Name: "NOTHING"})
		c.wantCode("1", protocol.CodeNotFound)
		c.request("sim", "2", &protocol.Sim{Op: "press", Name: "LED"})
		c.wantCode("2", protocol.CodeBadRequest)
	})
}

func TestKick(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		h := r.hold("hold")
		admin := r.dial(r.human)
		synctest.Wait()
		c := r.dial(r.bot, "maker")
		c.exec("1", "hold")
		<-h.running
		admin.request("conn", "1", &protocol.Conn{Op: "ls"})
		list := admin.read().(*protocol.Conns).Conns
		if len(list) != 2 || !list[0].Self || list[1].Client != "maker" || list[1].Actor != identity.LocalAgent || list[1].Requests != 1 {
			t.Fatalf("connections: got %+v, want the admin's and the agent's", list)
		}
		admin.request("conn", "2", &protocol.Conn{Op: "kick", Conn: &list[1].Conn})
		if left := admin.read().(*protocol.Conns).Conns; len(left) != 1 {
			t.Errorf("after the kick: got %+v, want the admin's own", left)
		}
		c.wantCut("cut by local-human")
		synctest.Wait()
		again := r.dial(r.bot, "maker")
		again.request("fetch", "f", &protocol.Target{Target: "1"})
		if res := again.wantCode("f", protocol.CodeInterrupted); !strings.Contains(res.Message, "cut by") {
			t.Errorf("what it ran: got %q, want it interrupted with the reason", res.Message)
		}
	})
}

// A token revoked between the look at it and the connection's place in the list leaves no connection behind.
func TestRevokedInBetween(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		actor, err := r.core.identify(r.bot)
		check(t, err)
		check(t, r.identity.Revoke(identity.LocalAgent))
		k := conns.New(t.Context(), nil, Peer{})
		wantRefusal(t, "become", r.core.become(k, &who{Actor: actor}, r.bot), protocol.CodeUnauthorized)
		r.core.slots.Release(k)
		r.core.slots.Serving.Done()
	})
}

// Nor does a token leave behind what was on its way when it was revoked, or what its program did in the last moment.
func TestRevokedMeanwhile(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		ran := r.handlers()
		r.agent.taught("late", func(g *guest) *hw.Exception {
			g.sink.Call(g.ctx, hw.Call{Op: hw.OpEvent, Text: "started"})
			<-g.ctx.Done()
			irq(g, "BUTTON", hw.EdgeFalling)
			return g.loop(false)
		})
		token := r.token("temp", identity.Agent, identity.Exec)
		c := r.dial(token)
		c.exec("1", "late")
		synctest.Wait()
		k := r.core.slots.List()[0]
		w := k.Who.Load()
		check(t, r.identity.Revoke("temp"))
		c.wantCut("revoked")
		id := "2"
		r.core.exec(k, w, &protocol.Request{ID: &id, Type: "exec"}, &protocol.Exec{Code: "detached", Detach: true}, nil)
		synctest.Wait()
		r.press("BUTTON")
		synctest.Wait()
		if got := r.agent.codes(); !slices.Equal(got, []string{"late"}) || len(r.core.irqs.armed) != 0 || len(ran) != 0 {
			t.Errorf("ran %q with %d handlers, %d armed; want nothing after the revocation", got, len(ran), len(r.core.irqs.armed))
		}
	})
}
