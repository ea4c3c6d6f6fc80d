package core

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// event reads the next message, which must be an event of that name, and returns its data.
func (c *client) event(name string) string {
	c.t.Helper()
	e, ok := c.read().(*protocol.Event)
	if !ok || e.Event != name {
		c.t.Fatalf("got %+v, want the event %s", e, name)
	}
	return string(e.Data)
}

// silent checks that nothing came: the answer to a ping is next.
func (c *client) silent(what string) {
	c.t.Helper()
	synctest.Wait()
	c.request("ping", "silent", nil)
	if a := c.read(); a.Head().Type != protocol.AnswerPong {
		c.t.Errorf("%s: got %+v, want nothing", what, a)
	}
}

func TestWatchPin(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c, other := r.dial(r.bot), r.dial(r.human)
		both := r.dial(r.human)
		both.request("subscribe", "s", &protocol.Subscribe{Events: []string{"pin_change"}})
		both.ack("s")
		for _, k := range []*client{c, both} {
			k.send(`{"id":"1","type":"watch","pin":"BUTTON","edge":"falling"}`)
			k.ack("1")
		}
		r.press("BUTTON")
		if got := c.event("pin_change"); !strings.Contains(got, `"name":"BUTTON"`) || !strings.Contains(got, `"value":0`) {
			t.Errorf("got %s", got)
		}
		c.silent("one edge")
		both.event("pin_change")
		both.silent("one edge, subscribed as well")
		other.silent("somebody else")
		// What comes too fast is counted.
		for range limits.WatchRate + 9 {
			r.press("BUTTON")
		}
		for range limits.WatchRate - 1 {
			c.event("pin_change")
		}
		c.silent("more than may come in a second")
		pass(2 * time.Second)
		r.press("BUTTON")
		if got := c.event("pin_change"); !strings.Contains(got, `"missed":10`) {
			t.Errorf("got %s, want those that were missed counted", got)
		}
		c.send(`{"id":"2","type":"unwatch","pin":"BUTTON"}`)
		c.ack("2")
		c.send(`{"id":"3","type":"unwatch","pin":"BUTTON"}`)
		c.wantCode("3", protocol.CodeNotFound)
		r.press("BUTTON")
		c.silent("not watched any more")
		for id, m := range map[string]string{"4": `"pin":"0"`, "5": `"pin":"nothing"`, "6": `"adc":"BUTTON","above":1`, "7": `"adc":"TEMP_ADC"`} {
			c.send(`{"id":"` + id + `","type":"watch",` + m + `}`)
			if res := c.result(id); !res.Error {
				t.Errorf("%s: got it done", m)
			}
		}
		c.send(`{"id":"8","type":"watch","pin":"BUTTON"}`)
		c.ack("8")
		c.leave()
		both.leave()
		if n := r.core.watches.Load(); n != 0 {
			t.Errorf("got %d watches of clients that are gone", n)
		}
	})
}

func TestFS(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		fs := func(id string, f protocol.FS) *protocol.FSAnswer {
			t.Helper()
			c.request("fs", id, &f)
			a, ok := c.read().(*protocol.FSAnswer)
			if !ok {
				t.Fatalf("%s: got %+v", id, a)
			}
			return a
		}
		refused := func(id string, f protocol.FS, want protocol.Code) {
			t.Helper()
			c.request("fs", id, &f)
			c.wantCode(id, want)
		}
		data := []byte(strings.Repeat("line\n", 60_000)) // three parts
		sum := sha256.Sum256(data)
		for at := 0; at < len(data); at += limits.FileChunk {
			f := protocol.FS{Op: "put", Path: "/logs/a.csv", Offset: int64(at), Data: data[at:min(len(data), at+limits.FileChunk)]}
			if at+limits.FileChunk >= len(data) {
				refused("early", protocol.FS{Op: "stat", Path: "/logs/a.csv"}, protocol.CodeNotFound)
				f.SHA256 = hex.EncodeToString(sum[:])
			}
			fs("put"+string(rune('a'+at/limits.FileChunk)), f)
		}
		var got []byte
		for len(got) < len(data) {
			a := fs("get"+string(rune('a'+len(got)/limits.FileChunk)), protocol.FS{Op: "get", Path: "/logs/a.csv", Offset: int64(len(got))})
			if a.Size != int64(len(data)) || (a.SHA256 != "") != (len(got) == 0) {
				t.Errorf("got size %d hash %q", a.Size, a.SHA256)
			}
			got = append(got, a.Data...)
		}
		if string(got) != string(data) {
			t.Error("got another file than was put")
		}
		refused("gap", protocol.FS{Op: "put", Path: "/x", Offset: 5, Data: []byte("y")}, protocol.CodeConflict)
		refused("hash", protocol.FS{Op: "put", Path: "/x", Data: []byte("y"), SHA256: "00"}, protocol.CodeBadRequest)
		refused("dots", protocol.FS{Op: "get", Path: "/../etc/passwd"}, protocol.CodeBadRequest)
		refused("mpy", protocol.FS{Op: "mkdir", Path: "/a.mpy"}, protocol.CodeDenied)
		refused("full folder", protocol.FS{Op: "rm", Path: "/logs"}, protocol.CodeConflict)
		fs("mv", protocol.FS{Op: "mv", Path: "/logs/a.csv", To: "/logs/b.csv"})
		if a := fs("ls", protocol.FS{Op: "ls", Path: "/", Deep: true}); len(a.Entries) != 2 || a.Entries[1].Path != "/logs/b.csv" || a.Entries[1].Rights != "full" {
			t.Errorf("got %+v", a.Entries)
		}
		weak := r.dial(r.token("weak", identity.Agent, identity.Read, identity.Exec))
		weak.request("fs", "1", &protocol.FS{Op: "rm", Path: "/logs/b.csv"})
		if res := weak.wantCode("1", protocol.CodeDenied); res.Rule != "flash.rights" {
			t.Errorf("got rule %q", res.Rule)
		}
		fs("rm", protocol.FS{Op: "rm", Path: "/logs", Deep: true})
		if a := fs("df", protocol.FS{Op: "df"}); a.Free != a.Total || a.Total != limits.FlashBytes {
			t.Errorf("got %d of %d free", a.Free, a.Total)
		}
	})
}
