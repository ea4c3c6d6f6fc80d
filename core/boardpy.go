package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/toolset"
)

// setBoardPy makes another text board.py. The machines that have the old one are replaced by whoever calls.
func (c *Core) setBoardPy(source []byte) {
	c.boardPy.Store(&source)
	c.tools.Store(toolset.New(source))
}

// boardHash is what a person who changes board.py has to have seen.
func (c *Core) boardHash() string {
	sum := sha256.Sum256(append([]byte(c.cfg.Board.Hash+"\x00"), *c.boardPy.Load()...))
	return hex.EncodeToString(sum[:])
}

func (c *Core) boardAnswer(id *string, body *protocol.Board) protocol.BoardAnswer {
	d, source := c.cfg.Board, *c.boardPy.Load()
	a := protocol.BoardAnswer{Header: protocol.NewHeader(id, "board"), Board: d.Name, Mode: d.Mode.String(), SHA256: c.boardHash()}
	a.Source, a.Drift = string(source), !bytes.Equal(source, d.BoardPy)
	if body.Op == "show" {
		a.File = string(d.Text)
	}
	return a
}

// applyBoard changes board.py for good. In engineering mode, where it alone may drive, that is a person's affair; the log has the old
// text's hash in the answer of every change, and the new text in its request. The machines are replaced, so that nothing of the old
// one lives on, and its tasks meet the new one at their next run.
func (c *Core) applyBoard(k *conn, w *who, req *protocol.Request) {
	epoch := c.cfg.Table.Epoch()
	entry, proceed := c.remember(k, w, req)
	if !proceed {
		return
	}
	c.hand(k, entry, req, func() {
		out := c.do(k, w, req, epoch)
		if !out.Keep || !bytes.Contains(out.Sent, []byte(`"type":"board"`)) {
			c.deliver(k, entry, out)
			return
		}
		c.workers.Go(func() { // a run of a task can be long, and who cancels it needs the clerk
			c.tasksReset()
			c.post(func() {
				c.queue.reset(c, &resetJob{actor: w.Actor.Name, answer: func(err error) {
					if err != nil {
						out = answers.Write(protocol.Refuse(req.ID, err))
					}
					c.deliver(k, entry, out)
				}})
			})
		})
	})
}

// changeBoard keeps and sets another board.py.
func (c *Core) changeBoard(w *who, id *string, body *protocol.Board) (protocol.Answer, error) {
	human := w.Actor.Class == identity.Human
	switch {
	case c.cfg.Apply == nil:
		return nil, &protocol.Error{Code: protocol.CodeUnavailable, Message: "this terminal keeps nothing, so its board.py cannot be changed"}
	case !human: // its code runs in everybody's machine, with everybody's leases and approvals
		return nil, &protocol.Error{Code: protocol.CodeDenied, Rule: "board.human", Message: "only a human changes board.py: its code runs in everybody's name"}
	case !w.Actor.Can(identity.Exec) || !w.Actor.Can(identity.Actuate): // it drives in its own name, and asks nobody
		return nil, &protocol.Error{Code: protocol.CodeDenied, Rule: "board.rights", Message: "board.py drives: who changes it needs the scopes exec and actuate, and no approvals"}
	case body.Confirm != c.boardHash():
		return nil, &protocol.Error{Code: protocol.CodeConflict, Rule: "board.confirm", Message: "board.py is another one than you saw: look at it again", Nearest: []string{c.boardHash()}}
	case len(body.Source) > limits.CodeBytes:
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Message: "board.py is longer than code may be"}
	}
	before := c.boardHash()
	if err := c.cfg.Apply([]byte(body.Source)); err != nil {
		return nil, &protocol.Error{Code: protocol.CodeStorage, Message: "keep board.py: " + err.Error()}
	}
	c.setBoardPy([]byte(body.Source))
	c.cfg.Events.Emit("board_applied", map[string]any{"actor": w.Actor.Name, "before": before, "after": c.boardHash()})
	return c.boardAnswer(id, body), nil
}

// tasksReset replaces the machine of the tasks when its run has ended.
func (c *Core) tasksReset() {
	if c.tasks.vm == nil {
		return
	}
	if err := c.tasks.reset(c.ctx); err != nil {
		c.log.Error("replace the machine of the tasks", "err", err)
	}
	c.lost(MachineTasks)
}
