//go:build !linux

package task

import "time"

// systemClock has no clock that counts through suspend: it takes the monotonic one, and naps keep it near the truth.
type systemClock struct{}

var started = time.Now()

func (systemClock) Now() Time {
	now := time.Now()
	return Time{Wall: now.Round(0), Boot: now.Sub(started) + time.Second}
}

func (s systemClock) Timer() (Timer, error) {
	t := &goTimer{c: make(chan struct{}, 1)}
	t.t = time.AfterFunc(time.Hour, func() { poke(t.c) })
	return t, nil
}

type goTimer struct {
	c chan struct{}
	t *time.Timer
}

func (t *goTimer) C() <-chan struct{}     { return t.c }
func (t *goTimer) Set(boot time.Duration) { t.t.Reset(boot - systemClock{}.Now().Boot) }
func (t *goTimer) Stop()                  { t.t.Stop() }
