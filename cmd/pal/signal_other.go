//go:build !unix

package main

import "os"

func endSignals() []os.Signal { return []os.Signal{os.Interrupt} }
