package client

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/ws"
)

// BenchmarkExec measures an exec's round trip without the terminal: two codecs, a client and a WebSocket on loopback.
func BenchmarkExec(b *testing.B) {
	endpoint := ws.Handler(ws.Options{Accept: func(ctx context.Context, conn transport.Conn) {
		for {
			message, err := conn.Read(ctx)
			if err != nil {
				return
			}
			r, err := protocol.Decode(message)
			if err != nil {
				b.Error(err)
				return
			}
			answer, err := protocol.Encode(result(r, "Pin 5 set HIGH"))
			if err != nil || conn.Write(ctx, answer) != nil {
				return
			}
		}
	}})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := ws.NewServer(endpoint, nil)
	go func() { _ = server.Serve(ws.Limit(tcp, ws.DefaultPlaces)) }()
	defer server.Close()
	defer func() { _ = endpoint.Close(context.Background(), "") }()
	conn, err := ws.Dial(b.Context(), "ws://"+tcp.Addr().String(), "", "")
	if err != nil {
		b.Fatal(err)
	}
	c := New(conn)
	defer c.Close()
	var trips []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := c.Exec(b.Context(), protocol.Exec{Code: "Pin(5).on()"}); err != nil {
			b.Fatal(err)
		}
		trips = append(trips, time.Since(start))
	}
	slices.Sort(trips)
	b.ReportMetric(float64(trips[len(trips)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(trips[len(trips)*99/100].Nanoseconds())/1e3, "p99-µs")
}
