//go:build linux

package vm_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

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

// BenchmarkReplace measures the replacement of a machine, from kill -9 to the notice that the standby took its place.
func BenchmarkReplace(b *testing.B) {
	p := fakes(b, "good")
	replace(b, p, p.Executor("agent"))
}

// replace kills m's machine again and again, each time with a standby in hand.
func replace(b *testing.B, p *bench, m *vm.Machine) {
	works(b, m)
	var all []time.Duration
	for b.Loop() {
		b.StopTimer()
		works(b, m) // a machine that ran a job is replaced without a pause
		eventually(b, "a standby", func() bool { return p.Status().Standby })
		pid := m.Status().Pid
		b.StartTimer()
		began := time.Now()
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			b.Fatal(err)
		}
		p.next(b, hw.NoticeRestarted)
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	for _, part := range []int{50, 99, 100} {
		b.ReportMetric(float64(all[(len(all)-1)*part/100].Microseconds())/1e3, fmt.Sprintf("ms/p%d", part))
	}
}
