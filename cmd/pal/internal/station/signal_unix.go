//go:build unix

package station

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyEstop has the e-stop signal delivered.
func notifyEstop(c chan<- os.Signal) { signal.Notify(c, syscall.SIGUSR1) }

func stopNotify(c chan<- os.Signal) { signal.Stop(c) }

// ignoreBrokenPipes keeps a terminal alive whose output nobody reads any more (`pal up | head`): the guard must not go
// because a log line went nowhere.
func ignoreBrokenPipes() { signal.Ignore(syscall.SIGPIPE) }
