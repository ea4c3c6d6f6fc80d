//go:build !linux

package niceties

import (
	"context"
	"errors"
	"runtime"
)

func apply(Options) []Nicety { return permitted() }

func permitted() []Nicety {
	return []Nicety{{Name: Machines, Why: runtime.GOOS + " offers none of it"}}
}

func keep(context.Context, Options) {}

func childAffinity() []int { return nil }

func settle(int, []int) error { return errors.ErrUnsupported }
