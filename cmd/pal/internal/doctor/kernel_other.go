//go:build !linux

package doctor

import (
	"errors"
	"runtime"
)

// kernelChecks: only Linux has what the machine's sandbox is made of.
func kernelChecks() []Check {
	return []Check{{Name: "kernel", Essential: false, Detail: runtime.GOOS + " has no sandbox for machines: `pal up` runs on Linux"}}
}

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

func unsynchronised() error { return errors.ErrUnsupported }

func mayWrite(string) error { return errors.ErrUnsupported }
