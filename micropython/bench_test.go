//go:build unix

package micropython

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/pal-terminal/pal/hw"
)

// benchMachine runs jobs without a channel between: what the machine itself costs.
func benchMachine(b *testing.B) *machine {
	b.Helper()
	g := start(b)
	return g.machine
}

func BenchmarkExec(b *testing.B) {
	m := benchMachine(b)
	job := &hw.Job{Kind: hw.JobExec, Session: "s", Code: "x=1", MaxOutput: 4096}
	m.running = true
	b.ReportAllocs()
	for b.Loop() {
		if err := m.drive(job.Kind, job); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExecNew is BenchmarkExec with a program that was never seen before.
func BenchmarkExecNew(b *testing.B) {
	m := benchMachine(b)
	job := &hw.Job{Kind: hw.JobExec, Session: "s", MaxOutput: 4096}
	m.running = true
	n := 0
	for b.Loop() {
		n++
		job.Code = "x=" + strconv.Itoa(n)
		if err := m.drive(job.Kind, job); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHostCall(b *testing.B) {
	m := benchMachine(b)
	job := &hw.Job{Kind: hw.JobExec, Session: "s", Code: "t = time.ticks_us\nfor k in range(1000): t()", MaxOutput: 4096}
	m.running = true
	for b.Loop() {
		if err := m.drive(job.Kind, job); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/call")
}

// BenchmarkPin is a pin written from a job, the guard being another goroutine of this process.
func BenchmarkPin(b *testing.B) {
	g := start(b)
	g.answer = board(map[uint16]int64{})
	g.exec("p = Pin(5, Pin.OUT)")
	for b.Loop() {
		g.exec("for k in range(500): p.on(); p.off()")
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/call")
}

func BenchmarkJob(b *testing.B) {
	g := start(b)
	for b.Loop() {
		g.exec("x=1")
	}
}

func BenchmarkLoop(b *testing.B) {
	g := start(b)
	for b.Loop() {
		g.exec("for k in range(1000000): s=k+1")
	}
}

// BenchmarkVideoFrame is one picture of the film: 1 KiB from a flash by SPI, and with one byte before it to a display by I2C.
func BenchmarkVideoFrame(b *testing.B) {
	g := start(b)
	newRig(g)
	if r := g.exec("from machine import *\nbuf = bytearray(1025); buf[0] = 0x40; view = memoryview(buf)[1:]\ns = SPI(1, 20000000); i = I2C(0)\ncmd = bytearray(4)"); r.Exception != nil {
		b.Fatal(r.err)
	}
	b.ResetTimer()
	if r := g.exec(fmt.Sprintf("for k in range(%d):\n  s.write(cmd)\n  s.readinto(view)\n  i.writeto(0x50, buf)", b.N)); r.Exception != nil {
		b.Fatal(r.err)
	}
}
