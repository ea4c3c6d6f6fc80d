//go:build unix

package terminal

import (
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
