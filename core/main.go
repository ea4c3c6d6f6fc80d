package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pal-terminal/pal/conns"
	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// mainActor is who boot.py and main.py run as; no token can have the name.
const mainActor = "(main)"

var errYielded = errors.New("a client runs code: main.py gives way, as to Ctrl-C at a prompt")

// RunMain runs /boot.py and then /main.py, as a board does after power-up, and returns at once. They run with the fewest rights
// that either was written with. The first exec of a client interrupts them.
func (c *Core) RunMain() {
	if c.safe.Load() {
		return
	}
	var list []string
	rights := flash.Full
	for _, path := range []string{"/boot.py", "/main.py"} {
		info, err := c.cfg.Flash.Stat(flash.Full, path)
		if err != nil || info.Folder {
			continue
		}
		list = append(list, path)
		if rights = min(rights, info.Rights); info.Rights > flash.Full { // nobody knows
			rights = flash.Reading
		}
	}
	c.runFiles(list, rights)
}

// runFiles queues the first of the files; when it has ended, the next one.
func (c *Core) runFiles(list []string, rights flash.Rights) {
	if len(list) == 0 {
		return
	}
	path := list[0]
	// The call checks the rights in the moment of reading, and not those of a file that stood there before.
	source := c.cfg.Flash.Call(rights, hw.Call{Op: hw.OpFile, A: hw.FileRead, Text: path, C: limits.CodeBytes + 1})
	if source.Errno != 0 || len(source.Data) > limits.CodeBytes {
		c.cfg.Events.Emit("main_ended", map[string]any{"file": path, "code": protocol.CodeDenied, "message": fmt.Sprintf("not run: %s (at most %d bytes)", source.Text, limits.CodeBytes)})
		return
	}
	actor := identity.Actor{Name: mainActor, Class: identity.Service, Scopes: []identity.Scope{identity.Exec}, Ask: rights == flash.Asking}
	if rights != flash.Reading {
		actor.Scopes = append(actor.Scopes, identity.Actuate)
	}
	nobody := conns.New(context.Background(), nil, Peer{}) // takes the answer
	j := &job{
		conn: nobody, who: &who{Actor: actor}, req: &protocol.Request{Type: protocol.TypeExec},
		exec:     &protocol.Exec{Code: protocol.Text(source.Data), Detach: true, Echo: new(bool)},
		received: time.Now(), timeout: c.cfg.Board.MaxExec, session: mainSession, run: c.traces.Add(1),
	}
	j.trace, j.epoch, j.code = c.trace(j.run), c.cfg.Table.Epoch(), hashOf(j.exec.Code)
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	j.done = func(r protocol.Result) {
		c.mainEnded(path, r)
		if r.Code == "" || r.Code == protocol.CodePythonError { // a board runs main.py also when boot.py failed
			c.runFiles(list[1:], rights)
		}
	}
	c.cfg.Events.Emit("main_started", map[string]any{"file": path, "trace": j.trace, "rights": rights.String()})
	c.post(func() { c.queue.admit(c, j) })
}

// mainEnded tells how a file ended, with the ends of its output: an exception's message is the last line of a traceback.
func (c *Core) mainEnded(path string, r protocol.Result) {
	end := func(text string) string { return protocol.Text([]byte(text[max(0, len(text)-limits.ReasonBytes):])) }
	data := map[string]any{"file": path, "stdout": end(r.Stdout), "stderr": end(r.Stderr)}
	if r.Code != "" {
		data["code"], data["message"] = r.Code, r.Message
	}
	if e := r.Exception; e != nil {
		data["class"], data["line"] = e.Class, e.Line
		if r.Message == "" {
			data["message"] = desk.Clean(e.Message, limits.ReasonBytes)
		}
	}
	c.cfg.Events.Emit("main_ended", data)
}

// yield ends main.py, running or waiting, when somebody else wants the machine.
func (q *queue) yield(c *Core, why error) {
	q.interrupt(c, why, func(j *job) bool { return j.done != nil })
}
