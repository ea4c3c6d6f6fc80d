package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/ws"
)

// Wire is a bare WebSocket client that speaks the seed's short form, which a terminal and the comparison server both
// understand: what is compared are the servers, not two clients.
type Wire struct {
	conn transport.Conn
	n    int
	run  string // begins the ids of this run
}

// DialWire connects.
func DialWire(ctx context.Context, url, token string) (*Wire, error) {
	conn, err := ws.Dial(ctx, url, token, "pal-bench")
	if err != nil {
		return nil, err
	}
	return &Wire{conn: conn, run: strconv.FormatInt(time.Now().UnixNano(), 36)}, nil
}

// Run implements Runner.
func (w *Wire) Run(ctx context.Context, code string) (time.Duration, error) {
	w.n++
	message, err := json.Marshal(struct {
		ID   string `json:"id"`
		Code string `json:"code"`
	}{w.run + "-" + strconv.Itoa(w.n), code}) // an id of an earlier run would be answered from memory
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := w.conn.Write(ctx, message); err != nil {
		return 0, err
	}
	raw, err := w.conn.Read(ctx)
	took := time.Since(start)
	if err != nil {
		return took, err
	}
	var answer struct {
		Error  any    `json:"error"` // true or false from a terminal, text or null from the comparison server
		Stderr string `json:"stderr"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return took, err
	}
	if answer.Error != nil && answer.Error != false {
		return took, fmt.Errorf("program failed: %v %s", answer.Error, answer.Stderr)
	}
	return took, nil
}

// Close ends the connection.
func (w *Wire) Close() { w.conn.Close("done") } //nolint:errcheck // nothing is left to lose
