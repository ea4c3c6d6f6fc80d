//go:build !unix

package main

import "os"

func endSignals() []os.Signal { return []os.Signal{os.Interrupt} }

// There is no signal for the e-stop here.
func notifyEstop(chan<- os.Signal) {}

func stopNotify(chan<- os.Signal) {}

func ignoreBrokenPipes() {}
