package devicetest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
)

// Run plays a transcript. The package comment has its language.
func Run(t *testing.T, w *World, d device.Device, transcript string) {
	t.Helper()
	for i, line := range strings.Split(transcript, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := step(w, d, line); err != nil {
			t.Errorf("line %d, %q: %v", i+1, line, err)
		}
	}
}

func step(w *World, d device.Device, line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "wait":
		pause, err := time.ParseDuration(rest)
		w.Advance(pause)
		return err
	case "set":
		key, value, named := strings.Cut(rest, " ")
		if !named {
			key, value = "", rest
		}
		return d.Set(key, value)
	case "fault":
		return d.Fault(rest)
	case "reset":
		d.Reset()
		return nil
	case "line":
		return lineIs(w, strings.Fields(rest))
	}
	switch d := d.(type) {
	case device.I2C:
		return stepI2C(d, verb, rest)
	case device.SPI:
		if verb == "x" {
			return stepSPI(d, rest)
		}
	case device.UART:
		return stepUART(w, d, verb, rest)
	}
	return fmt.Errorf("no such step for a %T", d)
}

func lineIs(w *World, f []string) error {
	if len(f) != 2 {
		return fmt.Errorf("wants a line and a level")
	}
	i, err := strconv.Atoi(f[0])
	if err != nil {
		return err
	}
	got := map[int]string{-1: "-", 0: "0", 1: "1"}[w.Forced(i)]
	if got != f[1] {
		return fmt.Errorf("got level %s, want %s", got, f[1])
	}
	return nil
}

func stepI2C(d device.I2C, verb, rest string) error {
	switch verb {
	case "w!", "r!":
		ack := d.Start(verb == "r!")
		d.Stop()
		if ack {
			return fmt.Errorf("got an acknowledged address, want none")
		}
		return nil
	case "w":
		defer d.Stop()
		return write(d, rest)
	case "r":
		defer d.Stop()
		return read(d, rest)
	case "wr":
		defer d.Stop()
		out, in, _ := strings.Cut(rest, ":")
		if err := write(d, out); err != nil {
			return err
		}
		return read(d, in)
	}
	return fmt.Errorf("no step of an I2C transcript")
}

func write(d device.I2C, rest string) error {
	if !d.Start(false) {
		return fmt.Errorf("got no acknowledge of the address")
	}
	for i, word := range strings.Fields(rest) {
		word, refused := strings.CutSuffix(word, "!")
		b, err := parse(word)
		if err != nil {
			return err
		}
		if ack := d.Write(b); ack == refused {
			return fmt.Errorf("byte %d (%s): got acknowledge %v, want %v", i, word, ack, !refused)
		}
	}
	return nil
}

func read(d device.I2C, rest string) error {
	if !d.Start(true) {
		return fmt.Errorf("got no acknowledge of the address")
	}
	want := strings.Fields(rest)
	got := make([]byte, len(want))
	for i := range got {
		got[i] = d.Read()
	}
	return same(got, want)
}

func stepSPI(d device.SPI, rest string) error {
	out, in, _ := strings.Cut(rest, "=")
	words := strings.Fields(out)
	tx := make([]byte, len(words))
	for i, word := range words {
		if word == ".." {
			continue
		}
		b, err := parse(word)
		if err != nil {
			return err
		}
		tx[i] = b
	}
	rx := make([]byte, len(tx))
	d.Select(true)
	d.Transfer(tx, rx)
	d.Select(false)
	want := strings.Fields(in)
	if len(want) > len(rx) {
		return fmt.Errorf("wants more bytes than it sends")
	}
	return same(rx[len(rx)-len(want):], want)
}

func stepUART(w *World, d device.UART, verb, rest string) error {
	switch verb {
	case "send":
		p, err := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		if err != nil {
			return err
		}
		d.Receive(p)
		return nil
	case "got":
		return same(w.Sent(), strings.Fields(rest))
	}
	return fmt.Errorf("no step of a UART transcript")
}

func same(got []byte, want []string) error {
	pattern := make([]byte, len(want))
	for i, word := range want {
		if word == ".." && i < len(got) {
			pattern[i] = got[i]
			continue
		}
		b, err := parse(word)
		if err != nil {
			return err
		}
		pattern[i] = b
	}
	if !bytes.Equal(got, pattern) {
		return fmt.Errorf("got % X, want %s", got, strings.Join(want, " "))
	}
	return nil
}

func parse(word string) (byte, error) {
	v, err := strconv.ParseUint(word, 16, 8)
	return byte(v), err
}
