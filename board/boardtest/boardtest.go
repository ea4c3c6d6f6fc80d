// Package boardtest holds every board.Driver to the contract that package pin relies on. A driver's own tests call [Run]; what
// a driver does beyond the contract is tested beside it.
//
// It refuses nothing and assumes nothing of the hardware but one output, one input that the test can force, and one
// analogue input. PWM, buses and timed protocols are tested of drivers whose bench has something to test them on.
package boardtest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

// patience bounds how long a level or an edge may take to arrive.
const patience = 2 * time.Second

// Bench is a driver under test with the pins the tests may use. Nothing else may touch them meanwhile.
type Bench struct {
	Board  *board.Description
	Driver board.Driver
	Out    string          // an output whose line nothing else drives
	In     string          // an input
	ADC    string          // an analogue input
	Force  func(level int) // gives the line of In a level from outside

	// What only some benches have.
	PWM   string // an output that can do PWM
	I2C   *I2C
	SPI   *SPI
	UART  *Wire
	Timed *Timed
}

func (b Bench) pin(t *testing.T, name string) int {
	t.Helper()
	i, ok := b.Board.Lookup(name)
	if !ok {
		t.Fatalf("the bench names %q, which is no pin of its board", name)
	}
	return i
}

// Run runs the contract. open returns a fresh bench for each part and arranges for it to be closed.
func Run(t *testing.T, open func(t *testing.T) Bench) {
	parts := []struct {
		name string
		run  func(*testing.T, Bench)
	}{
		{"output-follows-set", testOutput},
		{"configure-applies-level-at-once", testFirstLevel},
		{"looking-changes-nothing", testGetIsPure},
		{"set-needs-an-output", testSetNeedsOutput},
		{"input-follows-line", testInput},
		{"edges-arrive-in-order", testEdges},
		{"adc-in-range", testADC},
		{"bad-index", testBadIndex},
		{"concurrent", testConcurrent},
		{"pwm", testPWM},
		{"i2c", testI2C},
		{"spi", testSPI},
		{"uart", testUART},
		{"timed", testTimed},
		{"closed", testClosed},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, open(t)) })
	}
}

func testOutput(t *testing.T, b Bench) {
	out := b.pin(t, b.Out)
	must(t, b.Driver.Configure(out, hw.ModeOut, hw.PullNone, 0))
	for _, level := range []int{0, 1, 1, 0} {
		must(t, b.Driver.Set(out, level))
		if got := get(t, b.Driver, out); got != level {
			t.Errorf("after Set(%d): got level %d", level, got)
		}
	}
}

func testFirstLevel(t *testing.T, b Bench) {
	out := b.pin(t, b.Out)
	must(t, b.Driver.Configure(out, hw.ModeIn, hw.PullNone, 0))
	must(t, b.Driver.Configure(out, hw.ModeOut, hw.PullNone, 1))
	if got := get(t, b.Driver, out); got != 1 {
		t.Errorf("first level of an output: got %d want 1", got)
	}
}

func testGetIsPure(t *testing.T, b Bench) {
	out := b.pin(t, b.Out)
	must(t, b.Driver.Configure(out, hw.ModeOut, hw.PullNone, 1))
	for range 3 {
		get(t, b.Driver, out)
	}
	// A driver that turned the line into an input to read it could not drive it any more.
	must(t, b.Driver.Set(out, 0))
	if got := get(t, b.Driver, out); got != 0 {
		t.Errorf("output after reads: got %d want 0", got)
	}
	get(t, b.Driver, b.pin(t, b.In)) // not configured yet: must answer all the same
}

func testSetNeedsOutput(t *testing.T, b Bench) {
	in := b.pin(t, b.In)
	must(t, b.Driver.Configure(in, hw.ModeIn, hw.PullNone, 0))
	if err := b.Driver.Set(in, 1); err == nil {
		t.Error("Set on an input: got no error")
	}
}

func testInput(t *testing.T, b Bench) {
	in := b.pin(t, b.In)
	must(t, b.Driver.Configure(in, hw.ModeIn, hw.PullUp, 0))
	for _, level := range []int{0, 1, 0} {
		b.Force(level)
		if got := waitLevel(t, b.Driver, in, level); got != level {
			t.Errorf("line at %d: got %d", level, got)
		}
	}
}

func testEdges(t *testing.T, b Bench) {
	in := b.pin(t, b.In)
	b.Force(0)
	must(t, b.Driver.Configure(in, hw.ModeIn, hw.PullNone, 0))
	both, rising := make(chan bool, 64), make(chan bool, 64)
	cancelBoth, err := b.Driver.Watch(in, hw.EdgeRising|hw.EdgeFalling, func(rose bool, _ time.Time) { both <- rose })
	must(t, err)
	cancelRising, err := b.Driver.Watch(in, hw.EdgeRising, func(rose bool, _ time.Time) { rising <- rose })
	must(t, err)
	for _, level := range []int{1, 0, 1, 0, 1} {
		b.Force(level)
		waitLevel(t, b.Driver, in, level)
	}
	if got, want := collect(t, both, 5), []bool{true, false, true, false, true}; !cmp.Equal(got, want) {
		t.Errorf("both edges: got %v want %v", got, want)
	}
	if got, want := collect(t, rising, 3), []bool{true, true, true}; !cmp.Equal(got, want) {
		t.Errorf("rising edges: got %v want %v", got, want)
	}
	cancelBoth()
	b.Force(0)
	b.Force(1)
	// The other watch has seen this edge, so the cancelled one would have as well.
	collect(t, rising, 1)
	cancelBoth()
	cancelRising()
	if len(both) != 0 {
		t.Errorf("after cancel: got %d more edges", len(both))
	}
}

func testADC(t *testing.T, b Bench) {
	pin := b.pin(t, b.ADC)
	raw, microvolts, err := b.Driver.ReadADC(pin)
	must(t, err)
	if raw < 0 || raw > 4095 || microvolts < 0 {
		t.Errorf("got raw %d, %d µV", raw, microvolts)
	}
	if _, _, err := b.Driver.ReadADC(b.pin(t, b.Out)); err == nil {
		t.Error("ReadADC of a pin that is no analogue input: got no error")
	}
}

func testBadIndex(t *testing.T, b Bench) {
	for _, pin := range []int{-1, len(b.Board.Pins)} {
		_, getErr := b.Driver.Get(pin)
		_, _, adcErr := b.Driver.ReadADC(pin)
		_, watchErr := b.Driver.Watch(pin, hw.EdgeRising, func(bool, time.Time) {})
		for call, err := range map[string]error{
			"Configure": b.Driver.Configure(pin, hw.ModeIn, hw.PullNone, 0),
			"Set":       b.Driver.Set(pin, 1), "Get": getErr, "ReadADC": adcErr, "Watch": watchErr,
		} {
			if err == nil {
				t.Errorf("%s(%d): got no error", call, pin)
			}
		}
	}
}

func testConcurrent(t *testing.T, b Bench) {
	out, in := b.pin(t, b.Out), b.pin(t, b.In)
	must(t, b.Driver.Configure(out, hw.ModeOut, hw.PullNone, 0))
	must(t, b.Driver.Configure(in, hw.ModeIn, hw.PullNone, 0))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				if err := b.Driver.Set(out, (g+i)%2); err != nil {
					t.Errorf("Set: %v", err)
				}
				if _, err := b.Driver.Get(in); err != nil {
					t.Errorf("Get: %v", err)
				}
				cancel, err := b.Driver.Watch(in, hw.EdgeRising, func(bool, time.Time) {})
				if err != nil {
					t.Errorf("Watch: %v", err)
					continue
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

func testClosed(t *testing.T, b Bench) {
	out := b.pin(t, b.Out)
	must(t, b.Driver.Configure(out, hw.ModeOut, hw.PullNone, 1))
	must(t, b.Driver.Halt())
	must(t, b.Driver.Close())
	if err := b.Driver.Set(out, 1); err == nil {
		t.Error("Set after Close: got no error")
	}
	if _, err := b.Driver.Get(out); err == nil {
		t.Error("Get after Close: got no error")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, d board.Driver, pin int) int {
	t.Helper()
	level, err := d.Get(pin)
	must(t, err)
	return level
}

// waitLevel waits until a line has a level, as hardware may take a moment, and returns what it last read.
func waitLevel(t *testing.T, d board.Driver, pin, want int) int {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		level := get(t, d, pin)
		if level == want {
			return level
		}
		select {
		case <-deadline:
			return level
		case <-tick.C:
		}
	}
}

// collect receives n edges.
func collect(t *testing.T, from <-chan bool, n int) []bool {
	t.Helper()
	deadline := time.After(patience)
	var list []bool
	for len(list) < n {
		select {
		case rose := <-from:
			list = append(list, rose)
		case <-deadline:
			t.Errorf("got %d edges in %s, want %d", len(list), patience, n)
			return list
		}
	}
	return list
}
