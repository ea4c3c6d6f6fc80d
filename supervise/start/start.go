// Package start decides how a terminal starts after others have failed, and when a start has succeeded.
//
// # Model
//
// The counter itself is durable and package store's. [Decide] says what follows from it; a [StableTimer] clears it when the terminal has
// served for limits.StableAfter without a break; [Ended] is what the supervisor wrote about the end of the run before, which a
// guard that hung could not write itself.
package start

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// EndedFile is the file of the state folder in which the supervisor's unit leaves $SERVICE_RESULT.
const EndedFile = "supervisor-result"

// Decide tells whether a terminal starts in safe mode, after so many starts in a row failed; previous is how the last one ended.
func Decide(failed int, previous string) (safe bool, why string) {
	if failed < limits.FailedStarts {
		return false, ""
	}
	if previous == "" {
		previous = "nobody knows"
	}
	return true, fmt.Sprintf("%d starts in a row failed (the last end: %s): no programs and no tasks until `pal safe-mode leave`", failed, previous)
}

// Ended takes the supervisor's word about the run before, such as "watchdog" or "oom-kill", out of its file; empty when there is none.
// Each word is for one start.
func Ended(file string) (string, error) {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, limits.SupervisorWord+1))
	f.Close() //nolint:errcheck // nothing was written
	if removeErr := os.Remove(file); err == nil {
		err = removeErr
	}
	word := strings.TrimSpace(string(text))
	if len(text) > limits.SupervisorWord || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return "", fmt.Errorf("%s: %.64q is no result of a supervisor", EndedFile, word)
	}
	return word, err
}

// StableTimer waits for the start to have succeeded. Close ends it.
type StableTimer struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

// NewStableTimer begins when the listeners are up. up tells whether the network is, nil for always: limits.StableAfter begins
// anew when it was not. Then stable is called, again and again until it succeeds.
func NewStableTimer(up func() bool, stable func() error, log *slog.Logger) *StableTimer {
	ctx, cancel := context.WithCancel(context.Background())
	t := &StableTimer{cancel: cancel}
	t.wg.Go(func() { await(ctx, up, stable, log) })
	return t
}

// Close ends the waiting.
func (t *StableTimer) Close() {
	t.cancel()
	t.wg.Wait()
}

func await(ctx context.Context, up func() bool, stable func() error, log *slog.Logger) {
	tick := time.NewTicker(limits.StableLook)
	defer tick.Stop()
	since, told := time.Now(), false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if up != nil && !up() {
			since = time.Now()
			continue
		}
		if time.Since(since) < limits.StableAfter {
			continue
		}
		err := stable()
		if err == nil {
			return
		}
		if !told {
			told = true
			log.Error("the counter of failed starts cannot be cleared", "error", err)
		}
	}
}
