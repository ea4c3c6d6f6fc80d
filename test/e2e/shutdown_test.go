//go:build unix

package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// A terminal must end in time whatever its guest does: here a program that swallows every interrupt, requests that wait
// behind it, and connections that say nothing.
func TestShutdownInTime(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGQUIT} {
		t.Run(signal.String(), func(t *testing.T) { shutdownInTime(t, signal) })
	}
}

func shutdownInTime(t *testing.T, signal syscall.Signal) {
	u := start(t)
	human := u.dial("", "human")
	var idle []*client.Client
	for range limits.Connections - 4 {
		idle = append(idle, u.dial(u.agent, ""))
	}
	const stubborn = `
from machine import Pin
Pin("RELAY_1", Pin.OUT).on()
while True:
    try:
        while True: pass
    except BaseException: pass
`
	timeout := int64((5 * time.Minute).Milliseconds())
	results := make(chan *protocol.Result, 1)
	agent := u.dial(u.agent, "agent")
	go func() {
		res, _ := agent.Exec(u.t.Context(), protocol.Exec{Code: stubborn, TimeoutMS: &timeout}) // nil when the connection ended first
		results <- res
	}()
	u.eventually("the relay is on", func() bool { return u.levels(human)["RELAY_1"] == 1 })
	waiting := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := idle[0].Exec(u.t.Context(), protocol.Exec{Code: "1"})
			waiting <- err
		}()
	}
	u.eventually("requests wait", func() bool {
		status, err := human.Status(u.ctx())
		return err == nil && status.Waiting == 3
	})

	began := time.Now()
	if err := u.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	<-u.ended
	took := time.Since(began)
	if took > limits.ShutdownTimeout {
		t.Errorf("shutdown took %v, want at most %v", took, limits.ShutdownTimeout)
	}
	t.Logf("shutdown took %v", took)
	if res := <-results; res != nil && !res.Error {
		t.Errorf("the stubborn program's result: got %+v, want an error or none", res)
	}
	for range 3 {
		<-waiting // however it was answered, nobody is left hanging
	}
	for _, c := range append(idle, human, agent) {
		select {
		case <-c.Done():
		case <-time.After(patience):
			t.Fatal("a connection is still open")
		}
	}
}
