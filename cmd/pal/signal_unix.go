//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// endSignals are the orders to end in good order. Ctrl-\ is one of them: the Go runtime's own answer to it would leave the
// outputs as they are. A hang-up that whoever started pal chose to ignore stays ignored.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
