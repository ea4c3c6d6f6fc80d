package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Peer is the comparison server in a process of its own.
type Peer struct {
	*Wire
	cmd *exec.Cmd
	dir string
}

// StartPeer starts the server that stands in folder dir (test/peer of the source tree, after `npm ci` there).
func StartPeer(ctx context.Context, dir string) (*Peer, error) {
	tmp, err := os.MkdirTemp("", "pal-peer-")
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(tmp, "ready.json")
	cmd := exec.CommandContext(ctx, "node", "server.mjs", "--port", "0", "--ready-file", ready)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the comparison server: %w", err), os.RemoveAll(tmp))
	}
	p := &Peer{cmd: cmd, dir: tmp}
	url, err := awaitReady(ctx, ready)
	if err == nil {
		p.Wire, err = DialWire(ctx, url, "")
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// awaitReady waits for the server's file; the server never says anything else.
func awaitReady(ctx context.Context, file string) (string, error) {
	ctx, done := context.WithTimeout(ctx, 20*time.Second)
	defer done()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		raw, err := os.ReadFile(file)
		if err == nil {
			var r struct{ URL string }
			if err := json.NewDecoder(strings.NewReader(string(raw))).Decode(&r); err != nil {
				return "", fmt.Errorf("ready file of the comparison server: %w", err)
			}
			return r.URL, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", fmt.Errorf("the comparison server did not start: run `npm ci` in its folder")
		}
	}
}

// Close ends the server.
func (p *Peer) Close() error {
	if p.Wire != nil {
		p.Wire.Close()
	}
	p.cmd.Cancel() //nolint:errcheck // it may have ended by itself
	p.cmd.Wait()   //nolint:errcheck // it ends by signal
	return os.RemoveAll(p.dir)
}
