package core

import (
	"fmt"
	"maps"

	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/task"
)

// tellBoot publishes how the terminal started: with the levels there are, so that no client trusts what it knew before, and with
// what was under way when the last run ended.
func (c *Core) tellBoot() {
	data := map[string]any{"cause": "start"}
	maps.Copy(data, c.cfg.Boot)
	data["boot_id"], data["product"], data["board"] = c.bootID, c.cfg.Product, c.cfg.Board.Name
	data["mode"], data["pins"] = c.cfg.Board.Mode.String(), desk.Pins(c.cfg.Table, c.cfg.Claims)
	var cut []map[string]any
	for _, e := range c.cfg.Ledger.Cut {
		cut = append(cut, map[string]any{"trace": e.Trace, "actor": e.Actor, "type": e.Type})
	}
	if len(cut) > 0 {
		data["interrupted"], data["interrupted_count"] = cut[:min(len(cut), limits.EffectsKept)], len(cut)
	}
	c.cfg.Events.Emit("boot", data)
	if c.safe.Load() {
		c.cfg.Events.Emit("safe_mode", map[string]any{"active": true, "reason": c.cfg.SafeMode.Why, "failed_starts": c.cfg.SafeMode.Failed})
	}
	if stopped, reason, since := c.cfg.Table.Stopped(); stopped {
		c.cfg.Events.Emit("estop", map[string]any{"latched": true, "actor": c.latch.Actor(), "reason": reason, "since_ms": since.UnixMilli(), "restored": true})
	}
}

// safeModeRefusal answers what runs programs while the terminal is in safe mode.
func (c *Core) safeModeRefusal() *protocol.Error {
	return &protocol.Error{
		Code: protocol.CodeUnavailable, Rule: "safe_mode", Resource: "safe_mode",
		Message: fmt.Sprintf("the terminal is in safe mode (%s): no programs run until a person says `pal safe-mode leave`", c.cfg.SafeMode.Why),
	}
}

// safeModeRequest tells of safe mode, or leaves it: a person's affair.
func (c *Core) safeModeRequest(w *who, id *string, body *protocol.SafeMode) (protocol.Answer, error) {
	if body.Op == "leave" {
		switch {
		case w.Actor.Class != identity.Human:
			return nil, &protocol.Error{Code: protocol.CodeDenied, Rule: "safe_mode.human", Message: "only a human may leave safe mode"}
		case c.cfg.SafeMode.Leave != nil:
			if err := c.cfg.SafeMode.Leave(); err != nil {
				return nil, &protocol.Error{Code: protocol.CodeStorage, Message: err.Error()}
			}
		}
		if c.safe.Swap(false) {
			_ = c.manager.Unhold(task.HoldSafe) // which fails for an e-stop only
			c.cfg.Events.Emit("safe_mode", map[string]any{"active": false, "actor": w.Actor.Name})
		}
	}
	a := protocol.SafeModeAnswer{Header: protocol.NewHeader(id, protocol.AnswerSafeMode), Active: c.safe.Load(), Reason: c.cfg.SafeMode.Why, FailedStarts: c.cfg.SafeMode.Failed}
	return a, nil
}
