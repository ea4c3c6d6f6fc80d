//go:build !linux

package main

import "runtime"

// kernelChecks: only Linux has what the machine's sandbox is made of.
func kernelChecks() []check {
	return []check{{Name: "kernel", Essential: false, Detail: runtime.GOOS + " has no sandbox for machines: `pal up` runs on Linux"}}
}
