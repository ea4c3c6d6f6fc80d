//go:build unix

package terminal

import (
	"fmt"
	"testing"

	"github.com/pal-terminal/pal/transport"
)

// The round trip of one exec through the whole guard and a real machine, without and with a network.
func BenchmarkExecPipe(b *testing.B) {
	x := Start(b, nil)
	roundTrips(b, x.Pipe(x.Agent))
}

func BenchmarkExecWebSocket(b *testing.B) {
	x := Start(b, nil)
	roundTrips(b, x.Dial(x.Agent))
}

func BenchmarkPingWebSocket(b *testing.B) {
	x := Start(b, nil)
	conn := x.Dial(x.Agent)
	for b.Loop() {
		exchange(b, conn, `{"type":"ping"}`)
	}
}

func roundTrips(b *testing.B, conn transport.Conn) {
	b.Helper()
	for b.Loop() {
		exchange(b, conn, `{"code":"x=1"}`)
	}
}

func exchange(b *testing.B, conn transport.Conn, message string) {
	b.Helper()
	if err := conn.Write(b.Context(), []byte(message)); err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Read(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// Uses of hardware in one exec: what one costs, from Python through the guard's table to the simulated board and back.
func BenchmarkPinWrite(b *testing.B) { uses(b, "p = Pin('LED', Pin.OUT)", "p.on(); p.off()", 2) }
func BenchmarkPinWriteRules(b *testing.B) {
	uses(b, "p = Pin('RELAY_1', Pin.OUT)", "p.off()", 1)
}
func BenchmarkPinRead(b *testing.B) { uses(b, "p = Pin('BUTTON', Pin.IN)", "p.value()", 1) }

func uses(b *testing.B, setup, body string, each int) {
	b.Helper()
	const turns = 50_000
	x := Start(b, nil)
	conn := x.Pipe(x.Agent)
	code := fmt.Sprintf(`{"code":"%s\nfor _ in range(%d): %s"}`, setup, turns, body)
	n := 0
	for b.Loop() {
		exchange(b, conn, code)
		n += turns * each
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/use")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "uses/s")
}
