package client

import (
	"context"

	"github.com/pal-terminal/pal/protocol"
)

// ask asks for an answer of one type. Refusals are *protocol.Error.
func ask[A protocol.Answer](ctx context.Context, c *Client, typ string, body any) (A, error) {
	var none A
	answer, err := c.Do(ctx, typ, body)
	if err != nil {
		return none, err
	}
	wanted, ok := answer.(A)
	if !ok {
		return none, unexpected(typ, answer)
	}
	return wanted, nil
}

// acknowledged asks for something that has no more to say than that it was done.
func acknowledged(ctx context.Context, c *Client, typ string, body any) error {
	_, err := ask[*protocol.Ack](ctx, c, typ, body)
	return err
}

// Hello introduces the client; the answer is kept for [Client.Welcome].
func (c *Client) Hello(ctx context.Context, h protocol.Hello) (*protocol.Welcome, error) {
	welcome, err := ask[*protocol.Welcome](ctx, c, protocol.TypeHello, &h)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.welcome = welcome
	c.mu.Unlock()
	return welcome, nil
}

// Welcome returns what the terminal answered to the last hello; nil before. It must not be changed.
func (c *Client) Welcome() *protocol.Welcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcome
}

// Ping asks for a pong.
func (c *Client) Ping(ctx context.Context) error {
	_, err := ask[*protocol.Pong](ctx, c, protocol.TypePing, nil)
	return err
}

// Status returns the terminal's snapshot.
func (c *Client) Status(ctx context.Context) (*protocol.Status, error) {
	return ask[*protocol.Status](ctx, c, protocol.TypeStatus, nil)
}

// Describe returns what one must know before writing code for the terminal.
func (c *Client) Describe(ctx context.Context) (*protocol.Describe, error) {
	return ask[*protocol.Describe](ctx, c, protocol.TypeDescribe, nil)
}

// Pins returns the pin table.
func (c *Client) Pins(ctx context.Context) (*protocol.Pins, error) {
	return ask[*protocol.Pins](ctx, c, protocol.TypePins, nil)
}

// PinRead reads one pin, by name or id; the result's Value holds what was read.
func (c *Client) PinRead(ctx context.Context, pin string) (*protocol.Result, error) {
	return ask[*protocol.Result](ctx, c, protocol.TypePinRead, &protocol.PinRead{Pin: protocol.PinName(pin)})
}

// PinSet drives one pin, by name or id, to 0 or 1; the result's Effects say what changed.
func (c *Client) PinSet(ctx context.Context, pin string, level int) (*protocol.Result, error) {
	return ask[*protocol.Result](ctx, c, protocol.TypePinSet, &protocol.PinSet{Pin: protocol.PinName(pin), Value: protocol.Level(level)})
}

// Stop is the e-stop: nil means that the outputs are safe.
func (c *Client) Stop(ctx context.Context, reason string) error {
	return acknowledged(ctx, c, protocol.TypeStop, &protocol.Stop{Reason: reason})
}

// EstopClear clears the e-stop; the terminal lets humans only.
func (c *Client) EstopClear(ctx context.Context, reason string) error {
	return acknowledged(ctx, c, protocol.TypeEstopClear, &protocol.EstopClear{Reason: reason})
}

// Reset replaces the machine, or forgets one session when it is named.
func (c *Client) Reset(ctx context.Context, session string) error {
	return acknowledged(ctx, c, protocol.TypeReset, &protocol.Reset{Session: session})
}

// Interrupt interrupts an exec by its trace, or by its id when this client sent it.
func (c *Client) Interrupt(ctx context.Context, target string) error {
	return acknowledged(ctx, c, protocol.TypeInterrupt, &protocol.Target{Target: target})
}

// Fetch returns the stored answer of an earlier request by its id. A result of code that ran is an answer, however it ended;
// a refusal, of the earlier request as of this one, is a *protocol.Error.
func (c *Client) Fetch(ctx context.Context, id string) (protocol.Answer, error) {
	answer, err := c.ask(ctx, protocol.TypeFetch, &protocol.Target{Target: id}, &call{})
	if err != nil {
		return nil, err
	}
	if result, ok := answer.(*protocol.Result); ok && !ran(result) {
		return nil, Refusal(result)
	}
	return answer, nil
}

// ran reports whether a result tells of code that ran.
func ran(r *protocol.Result) bool {
	switch r.Code {
	case protocol.CodePythonError, protocol.CodeDeadline, protocol.CodeInterrupted, protocol.CodeVMRestarted:
		return true
	default:
		return !r.Error || r.Exception != nil
	}
}

// Token manages identities.
func (c *Client) Token(ctx context.Context, t protocol.Token) (*protocol.Tokens, error) {
	return ask[*protocol.Tokens](ctx, c, protocol.TypeToken, &t)
}

// Sim looks at or changes the simulated world.
func (c *Client) Sim(ctx context.Context, s protocol.Sim) (*protocol.SimAnswer, error) {
	return ask[*protocol.SimAnswer](ctx, c, protocol.TypeSim, &s)
}

// Conns lists the terminal's live connections.
func (c *Client) Conns(ctx context.Context) (*protocol.Conns, error) {
	return ask[*protocol.Conns](ctx, c, protocol.TypeConn, &protocol.Conn{Op: "ls"})
}

// Kick cuts a live connection by its number.
func (c *Client) Kick(ctx context.Context, conn uint64) error {
	_, err := c.Do(ctx, protocol.TypeConn, &protocol.Conn{Op: "kick", Conn: &conn})
	return err
}

// Board returns the board description: op "show" or "source".
func (c *Client) Board(ctx context.Context, op string) (*protocol.BoardAnswer, error) {
	return ask[*protocol.BoardAnswer](ctx, c, protocol.TypeBoard, &protocol.Board{Op: op})
}
