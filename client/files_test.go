package client

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/files"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// overFlash connects a client to a fake whose files are real. before is called ahead of each request of files.
func overFlash(t *testing.T, before func(s *flash.Store, n int, f *protocol.FS)) (*Client, *flash.Store) {
	t.Helper()
	s, err := flash.Open("")
	if err != nil {
		t.Fatal(err)
	}
	desk, n := files.New(s), 0
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
		body, ok := r.Body.(*protocol.FS)
		if !ok {
			polite(f, r)
			return
		}
		before(s, n, body)
		n++
		answer, err := desk.Do("client", flash.Full, r.ID, body)
		if err != nil {
			f.refuse(r, err)
			return
		}
		f.say(answer)
	})
	return c, s
}

func noise(n int) []byte {
	data := make([]byte, n)
	x := uint32(n) + 1
	for i := range data {
		x = x*1_664_525 + 1_013_904_223
		data[i] = byte(x >> 24)
	}
	return data
}

func TestPutAndGet(t *testing.T) {
	requests := 0
	c, _ := overFlash(t, func(*flash.Store, int, *protocol.FS) { requests++ })
	for _, tt := range []struct {
		path  string
		size  int
		parts int
	}{
		{"/empty", 0, 1}, {"/one", 1, 1}, {"/chunk less one", limits.FileChunk - 1, 1}, {"/chunk", limits.FileChunk, 1},
		{"/chunk and one", limits.FileChunk + 1, 2}, {"/new/folder/300 KiB", 300 << 10, 3}, {"/most", limits.FileBytes, limits.FileBytes / limits.FileChunk},
		{"/データ/日本語.txt", 5, 1}, {"/caf\u00e9", 6, 1}, {"/cafe\u0301", 7, 1}, {"/🙂", 8, 1}, {"/a\"b\\c\td", 9, 1}, {"/" + strings.Repeat("日", 85), 10, 1},
	} {
		data := noise(tt.size)
		requests = 0
		if err := c.PutFile(t.Context(), tt.path, data); err != nil {
			t.Errorf("put %q: %v", tt.path, err)
			continue
		}
		if requests != tt.parts {
			t.Errorf("put %q: got %d requests, want %d", tt.path, requests, tt.parts)
		}
		requests = 0
		got, err := c.GetFile(t.Context(), tt.path)
		if err != nil || !bytes.Equal(got, data) || requests != tt.parts {
			t.Errorf("get %q: got %d bytes, %v in %d requests, want %d bytes in %d", tt.path, len(got), err, requests, tt.size, tt.parts)
		}
	}
	var refusal *protocol.Error
	if err := c.PutFile(t.Context(), "/big", noise(limits.FileBytes+1)); !errors.As(err, &refusal) || refusal.Code != protocol.CodeTooLarge {
		t.Errorf("put of too much: got %v", err)
	}
	for _, path := range []string{"/big", "/none"} {
		if _, err := c.GetFile(t.Context(), path); !errors.As(err, &refusal) || refusal.Code != protocol.CodeNotFound {
			t.Errorf("get %s: got %v", path, err)
		}
	}
	if err := c.PutFile(t.Context(), "/a.mpy", nil); !errors.As(err, &refusal) || refusal.Rule != "flash.mpy" {
		t.Errorf("put of compiled code: got %v", err)
	}
}

// A file that changes between its parts is never a mix of two: the reader is told.
func TestGetOfWhatChanges(t *testing.T) {
	const size = 3 * limits.FileChunk
	for name, change := range map[string]func(s *flash.Store) error{
		"as long":         func(s *flash.Store) error { return s.Write(flash.Full, "/a", noise(size + 1)[:size]) },
		"longer":          func(s *flash.Store) error { return s.Write(flash.Full, "/a", noise(size+9)) },
		"longer by a lot": func(s *flash.Store) error { return s.Write(flash.Full, "/a", noise(2*size)) },
		"the same and on": func(s *flash.Store) error { return s.Write(flash.Full, "/a", append(noise(size), 'x')) },
		"shorter":         func(s *flash.Store) error { return s.Write(flash.Full, "/a", noise(limits.FileChunk+5)) },
		"emptied":         func(s *flash.Store) error { return s.Write(flash.Full, "/a", nil) },
		"gone":            func(s *flash.Store) error { return s.Remove(flash.Full, "/a", false) },
	} {
		for at := 1; at < 3; at++ {
			c, s := overFlash(t, func(s *flash.Store, n int, _ *protocol.FS) {
				if n == at {
					if err := change(s); err != nil {
						t.Error(err)
					}
				}
			})
			if err := s.Write(flash.Full, "/a", noise(size)); err != nil {
				t.Fatal(err)
			}
			var refusal *protocol.Error
			data, err := c.GetFile(t.Context(), "/a")
			told := errors.Is(err, errChanged) || errors.As(err, &refusal) && refusal.Code == protocol.CodeNotFound
			if !told || data != nil {
				t.Errorf("%s after part %d: got %d bytes and %v, want it told", name, at, len(data), err)
			}
		}
	}
}

// A terminal that sends more and more does not fill the client's memory.
func TestGetEnds(t *testing.T) {
	c, f := overPipe(t, func(f *fake, r *protocol.Request) {
		f.say(&protocol.FSAnswer{Header: protocol.NewHeader(r.ID, protocol.AnswerFS), Data: noise(limits.FileChunk), Size: 1 << 40})
	})
	if _, err := c.GetFile(t.Context(), "/a"); err == nil {
		t.Error("got a file without end")
	}
	if n := len(f.requests(protocol.TypeFS)); n > limits.FileBytes/limits.FileChunk+1 {
		t.Errorf("got %d requests", n)
	}
}

// A put that is refused half way asks for nothing more.
func TestPutRefused(t *testing.T) {
	c, f := overPipe(t, func(f *fake, r *protocol.Request) {
		if body, ok := r.Body.(*protocol.FS); ok && body.Offset == 0 {
			f.say(&protocol.FSAnswer{Header: protocol.NewHeader(r.ID, protocol.AnswerFS), Size: limits.FileChunk})
			return
		}
		f.refuse(r, &protocol.Error{Code: protocol.CodeConflict, Message: "begin again"})
	})
	var refusal *protocol.Error
	if err := c.PutFile(t.Context(), "/a", noise(4*limits.FileChunk)); !errors.As(err, &refusal) || refusal.Code != protocol.CodeConflict {
		t.Errorf("got %v", err)
	}
	if n := len(f.requests(protocol.TypeFS)); n != 2 {
		t.Errorf("got %d requests, want two", n)
	}
}

func TestTool(t *testing.T) {
	c, f := overPipe(t, func(f *fake, r *protocol.Request) {
		switch body := r.Body.(*protocol.Tool); body.Tool {
		case "add":
			res := result(r, "")
			res.Value = []byte("3")
			f.say(res)
		case "gone":
			f.refuse(r, &protocol.Error{Code: protocol.CodeNotFound, Message: "no such tool", Nearest: []string{"add"}})
		default:
			f.ack(r)
		}
	})
	res, err := c.Tool(t.Context(), protocol.Tool{Tool: "add", Args: []byte(`{"a":1}`), Session: "s"})
	if err != nil || string(res.Value) != "3" {
		t.Errorf("got %+v, %v", res, err)
	}
	sent, ok := f.requests(protocol.TypeTool)[0].Body.(*protocol.Tool)
	if diff := cmp.Diff(&protocol.Tool{Tool: "add", Args: []byte(`{"a":1}`), Session: "s"}, sent); !ok || diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if res, err := c.Tool(t.Context(), protocol.Tool{Tool: "gone"}); err != nil || res.Code != protocol.CodeNotFound || len(res.Nearest) != 1 {
		t.Errorf("refused: got %+v, %v, want the result that says so", res, err)
	}
	if _, err := c.Tool(t.Context(), protocol.Tool{Tool: "odd"}); err == nil {
		t.Error("an answer of another kind: got no error")
	}
}

func TestWatch(t *testing.T) {
	c, f := overPipe(t, func(f *fake, r *protocol.Request) {
		if body, ok := r.Body.(*protocol.Watch); ok && body.ADC != nil && *body.ADC == "NOPE" {
			f.refuse(r, &protocol.Error{Code: protocol.CodeNotFound, Message: "no such pin"})
			return
		}
		f.ack(r)
	})
	button, nope, above := protocol.PinName("BUTTON"), protocol.PinName("NOPE"), 1.5
	w := protocol.Watch{Pin: &button, Edge: "rising"}
	if err := errors.Join(c.Watch(t.Context(), w), c.Unwatch(t.Context(), w)); err != nil {
		t.Error(err)
	}
	for _, typ := range []string{protocol.TypeWatch, protocol.TypeUnwatch} {
		if diff := cmp.Diff(any(&w), f.requests(typ)[0].Body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typ, diff)
		}
	}
	var refusal *protocol.Error
	if err := c.Watch(t.Context(), protocol.Watch{ADC: &nope, Above: &above}); !errors.As(err, &refusal) || refusal.Code != protocol.CodeNotFound {
		t.Errorf("got %v", err)
	}
}
