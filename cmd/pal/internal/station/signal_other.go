//go:build !unix

package station

import "os"

// There is no signal for the e-stop here.
func notifyEstop(chan<- os.Signal) {}

func stopNotify(chan<- os.Signal) {}

func ignoreBrokenPipes() {}
