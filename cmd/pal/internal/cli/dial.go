package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/config"
	"github.com/pal-terminal/pal/protocol"
)

// Environment of the commands that talk to a terminal.
const (
	envDevice = "PAL_DEVICE"
	envToken  = "PAL_TOKEN"
)

// clientName is the name that the terminal lists these commands under.
const clientName = "pal-cli"

// ErrNotRunning says that the state folder knows of no terminal.
var ErrNotRunning = errors.New("no terminal is running")

// StateDir returns the state folder that flag and environment name.
func (a *App) StateDir() string {
	if a.State != "" {
		return a.State
	}
	return config.StateDir(a.Getenv)
}

// Target finds the terminal to talk to and who to be there: flag before environment before state folder.
func (a *App) Target() (client.Target, error) {
	device := a.Device
	if device == "" {
		device = a.Getenv(envDevice)
	}
	token := a.Getenv(envToken)
	if device == "" {
		t, err := client.FromState(a.StateDir())
		if errors.Is(err, fs.ErrNotExist) {
			return t, fmt.Errorf("%w with the state folder %s: start one with `pal up`, or name another with --state or --device", ErrNotRunning, a.StateDir())
		}
		if err != nil {
			return t, err
		}
		if token != "" {
			t.Token = token
		}
		t.Name = clientName
		return t, nil
	}
	address, err := deviceURL(device)
	if err != nil {
		return client.Target{}, err
	}
	t := client.Target{URL: address, Token: token, Name: clientName}
	if token == "" {
		// The local token goes to the terminal that made it and nowhere else.
		if own, err := client.FromState(a.StateDir()); err == nil && sameEndpoint(own.URL, address) {
			t.Token = own.Token
		}
	}
	return t, nil
}

// deviceURL reads a device word: an address of the PAL protocol, or the HOST:PORT of one.
func deviceURL(word string) (string, error) {
	switch {
	case strings.HasPrefix(word, "ws://"), strings.HasPrefix(word, "wss://"):
		return word, nil
	case strings.HasPrefix(word, "port:"):
		return "", &protocol.Error{Code: protocol.CodeUnavailable, Message: "serial boards are not in this version yet: give ws://HOST:PORT/pal"}
	}
	if host, port, err := net.SplitHostPort(word); err == nil && port != "" {
		return "ws://" + net.JoinHostPort(host, port) + "/pal", nil
	}
	return "", Usagef("%q is not a device: give ws://HOST:PORT/pal or HOST:PORT", word)
}

// sameEndpoint reports whether two addresses are the same listener by their text. Other names of it do not count: on a
// machine of several users, 127.0.0.1 and ::1 can be two people's.
func sameEndpoint(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Scheme == ub.Scheme && ua.Host == ub.Host
}

// Dial connects to the terminal.
func (a *App) Dial(ctx context.Context) (*client.Client, error) {
	t, err := a.Target()
	if err != nil {
		return nil, err
	}
	return client.Dial(ctx, t)
}

// Ask sends one request and returns its answer, which must be an A.
func Ask[A protocol.Answer](ctx context.Context, c *client.Client, typ string, body any) (A, error) {
	var none A
	answer, err := c.Do(ctx, typ, body)
	if err != nil {
		return none, err
	}
	wanted, ok := answer.(A)
	if !ok {
		return none, fmt.Errorf("%s: the terminal answered with a message of type %q", typ, answer.Head().Type)
	}
	return wanted, nil
}

// With connects, hands the connection to f and ends it.
func (a *App) With(ctx context.Context, f func(c *client.Client) error) (err error) {
	c, err := a.Dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return f(c)
}

// Once connects, asks and leaves.
func Once[A protocol.Answer](ctx context.Context, a *App, typ string, body any) (answer A, err error) {
	err = a.With(ctx, func(c *client.Client) error {
		answer, err = Ask[A](ctx, c, typ, body)
		return err
	})
	return answer, err
}
