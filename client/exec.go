package client

import (
	"context"
	"fmt"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Exec runs code and returns its result, also when the code raised, ran out of time or was refused: Error and Code say so, and
// [Refusal] makes an error of it. err is for what kept a result from coming.
//
// When ctx ends first, the exec is interrupted, unless it was sent with Detach, and its result is waited for during
// limits.InterruptWait. If it comes it is returned without an error, since it says what the code did until then.
func (c *Client) Exec(ctx context.Context, e protocol.Exec) (*protocol.Result, error) {
	return c.ExecStream(ctx, e, nil)
}

// ExecStream is Exec with output as it is printed. onOutput runs on the calling goroutine; while it is busy, up to
// limits.ObserverQueue pieces wait, and what exceeds them is counted in the result's DroppedBytes (Output.Seq shows where). A nil
// onOutput drops streamed output.
func (c *Client) ExecStream(ctx context.Context, e protocol.Exec, onOutput func(*protocol.Output)) (*protocol.Result, error) {
	waiting := &call{}
	if onOutput != nil {
		e.Stream = true
		waiting.output = make(chan *protocol.Output, limits.ObserverQueue)
	}
	id, err := c.send(ctx, protocol.TypeExec, &e, waiting)
	if err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	defer c.forget(id)
	answer, err := c.follow(ctx, waiting, onOutput)
	if err != nil && ctx.Err() != nil && !e.Detach && c.Err() == nil {
		answer, err = c.abandon(ctx, id, waiting, onOutput)
	}
	if err != nil {
		return nil, err
	}
	result, ok := answer.(*protocol.Result)
	if !ok {
		return nil, unexpected(protocol.TypeExec, answer)
	}
	return result, nil
}

// follow passes output on until the answer is there.
func (c *Client) follow(ctx context.Context, waiting *call, onOutput func(*protocol.Output)) (answer protocol.Answer, err error) {
	for answer == nil && err == nil {
		select {
		case output := <-waiting.output:
			onOutput(output)
		case answer = <-waiting.answer:
		case <-c.done:
			answer, err = c.last(protocol.TypeExec, waiting)
		case <-ctx.Done():
			return nil, fmt.Errorf("exec: waiting for the result: %w", ctx.Err())
		}
	}
	for { // all output was queued before the answer
		select {
		case output := <-waiting.output:
			onOutput(output)
		default:
			return answer, err
		}
	}
}

// abandon interrupts a running exec whose caller has given up, and gives it a moment to say how it ended.
func (c *Client) abandon(given context.Context, id string, waiting *call, onOutput func(*protocol.Output)) (protocol.Answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(given), limits.InterruptWait)
	defer cancel()
	ack := &call{}
	interrupt, err := c.send(ctx, protocol.TypeInterrupt, &protocol.Target{Target: id}, ack)
	if err != nil {
		return nil, fmt.Errorf("exec: %w; and interrupting it: %w", given.Err(), err)
	}
	defer c.forget(interrupt)
	answer, err := c.follow(ctx, waiting, onOutput)
	if err == nil {
		return answer, nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("exec: interrupted, and no result within %v: %w", limits.InterruptWait, given.Err())
	}
	return nil, err
}

func unexpected(typ string, answer protocol.Answer) error {
	return fmt.Errorf("%s: the terminal answered with a message of type %q", typ, answer.Head().Type)
}
