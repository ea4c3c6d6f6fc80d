// Package table says what each bound of package limits is for and what happens past it. docs/limits.md is generated from it,
// and its tests hold it complete: every constant has one row, and no row retypes a number.
package table

import (
	"slices"
	"strconv"
	"time"
)

//go:generate go test -run ^TestDocument$ . -args -update

// Bound is one limit as people read it.
type Bound struct {
	Group  string // what it bounds, a heading of docs/limits.md
	Name   string // of the constant
	Value  string // in Unit, written from the constant
	Unit   string
	Reason string // why it exists and why it has this size
	Past   string // what happens past it
}

// All returns every bound, by group, in the order of the source.
func All() []Bound {
	return slices.Concat(
		in("What runs", running()),
		in("Messages", messages()),
		in("Connections and queues", connections()),
		in("The machine that runs guest code", machine()),
		in("Outputs", outputs()),
		in("Tasks", tasks()),
		in("Leases and approvals", leases()),
		in("What is kept on disk", disk()),
		in("Start and supervision", slices.Concat(supervision(), watchdogs())),
		in("Board files", boards()),
		in("The simulated bench", simulated()),
		in("Carriers and clients", carriers()),
		in("Commands", commands()),
	)
}

func in(group string, bounds []Bound) []Bound {
	for i := range bounds {
		bounds[i].Group = group
	}
	return bounds
}

// count makes the row of a bound that counts things.
func count(name string, value int, unit, reason, past string) Bound {
	return Bound{Name: name, Value: strconv.Itoa(value), Unit: unit, Reason: reason, Past: past}
}

// size makes the row of a bound in bytes.
func size(name string, value int, reason, past string) Bound {
	unit := "B"
	for _, larger := range []string{"KiB", "MiB"} {
		if value%1024 != 0 {
			break
		}
		value, unit = value/1024, larger
	}
	return Bound{Name: name, Value: strconv.Itoa(value), Unit: unit, Reason: reason, Past: past}
}

// span makes the row of a bound in time.
func span(name string, value time.Duration, reason, past string) Bound {
	unit, one := "ms", time.Millisecond
	for _, larger := range []struct {
		unit string
		one  time.Duration
	}{{"s", time.Second}, {"min", time.Minute}, {"h", time.Hour}} {
		if value%larger.one == 0 {
			unit, one = larger.unit, larger.one
		}
	}
	return Bound{Name: name, Value: strconv.FormatInt(int64(value/one), 10), Unit: unit, Reason: reason, Past: past}
}
