//go:build linux

package vm_test

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/vm"
)

// fast is a sink that costs nothing, so that the channel is what is measured.
type fast struct{}

func (fast) Call(context.Context, hw.Call) hw.Reply { return hw.Reply{} }
func (fast) Output(hw.Stream, []byte)               {}

// BenchmarkCall measures a hardware call from the machine to the guard and its answer back, without Python and hardware.
func BenchmarkCall(b *testing.B) {
	m := fakes(b, "good").Executor("agent")
	works(b, m)
	const perJob = 10_000
	job := hwtest.Exec("", calls+fmt.Sprint(perJob))
	n := 0
	for b.Loop() {
		if out := m.Run(b.Context(), job, fast{}); out.Exception != nil || out.Died {
			b.Fatalf("outcome: %+v", out)
		}
		n += perJob
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/call")
}

// BenchmarkRun measures an empty job, there and back.
func BenchmarkRun(b *testing.B) {
	m := fakes(b, "good").Executor("agent")
	works(b, m)
	job := hwtest.Exec("", calls+"0")
	for b.Loop() {
		if out := m.Run(b.Context(), job, fast{}); out.Died {
			b.Fatalf("outcome: %+v", out)
		}
	}
}

// BenchmarkReplace measures the replacement of a machine that was killed: what the guard says it took with the standby in
// hand.
func BenchmarkReplace(b *testing.B) {
	p := fakes(b, "good")
	replace(b, p, p.Executor("agent"))
}

// replace kills m's machine again and again, each time with a standby in hand.
func replace(b *testing.B, p *bench, m *vm.Machine) {
	works(b, m)
	var total, longest int64
	n := 0
	for b.Loop() {
		b.StopTimer()
		works(b, m) // a machine that ran a job is replaced without a pause
		eventually(b, "a standby", func() bool { return p.Status().Standby })
		pid := m.Status().Pid
		b.StartTimer()
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			b.Fatal(err)
		}
		took := p.next(b, hw.NoticeRestarted).Took.Nanoseconds()
		total, longest = total+took, max(longest, took)
		n++
	}
	b.ReportMetric(float64(total)/float64(n)/1e6, "ms/replacement")
	b.ReportMetric(float64(longest)/1e6, "ms/longest")
}
