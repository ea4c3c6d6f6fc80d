//go:build !linux

package doctor

import "runtime"

// kernelChecks: only Linux has what the machine's sandbox is made of.
func kernelChecks() []Check {
	return []Check{{Name: "kernel", Essential: false, Detail: runtime.GOOS + " has no sandbox for machines: `pal up` runs on Linux"}}
}
