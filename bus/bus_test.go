package bus

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// both runs a test behind an immediate driver and behind one that may wait.
func both(t *testing.T, run func(t *testing.T, r *rig)) {
	t.Helper()
	for name, direct := range map[string]bool{"direct": true, "goroutines": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, testBoard, direct)
			defer r.end()
			run(t, r)
		})
	}
}

func TestOpen(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		for text, settings := range map[string]string{
			"i2c:0": `{"freq":100000}`,
			"i2c:":  `{"sda":"SDA_1","scl":"GPIO9","timeout":50000}`,
			"spi:1": `{"baudrate":8000000,"polarity":1,"phase":1,"bits":8,"firstbit":0,"sck":"10","mosi":"11","miso":"12"}`,
			"uart:": `{"baudrate":115200,"bits":8,"parity":null,"stop":1,"tx":"17","rx":"RX","rxbuf":512}`,
		} {
			r.open(text, settings)
		}
		want := []State{
			{Name: "i2c0", Open: true, Holder: "agent"}, {Name: "i2c1", Open: true, Holder: "agent"}, {Name: "i2c2"},
			{Name: "spi1", Open: true, Holder: "agent"}, {Name: "uart1", Open: true, Holder: "agent"},
		}
		if diff := cmp.Diff(want, r.Snapshot()); diff != "" {
			t.Error(diff)
		}
		if got := r.f.open[uart1]; got.Hz != 115_200 || got.Parity != -1 {
			t.Errorf("settings of the UART: got %+v", got)
		}
		r.open("i2c:0", "") // again, with the defaults
		if got := r.f.open[i2c0].Hz; got != 400_000 {
			t.Errorf("opened again: got %d Hz", got)
		}
		r.do(agent, hw.Call{Op: hw.OpBusClose, Pin: i2c0})
		r.do(agent, hw.Call{Op: hw.OpBusClose, Pin: i2c0})
		if got := r.refused(agent, read(i2c0, 1), RuleClosed); got.Errno != 22 {
			t.Errorf("a closed bus: got %+v", got)
		}
	})
}

func TestOpenRefused(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		tests := []struct {
			text, settings, rule, nearest string
		}{
			{"can:0", "", pin.RuleArgument, ""},
			{"i2c", "", pin.RuleArgument, ""},
			{"i2c:5", "", RuleUnknownBus, "i2c0: sda=6, scl=7"},
			{"i2c:00", "", RuleUnknownBus, "i2c0: sda=6, scl=7"},
			{"i2c:-1", "", RuleUnknownBus, "i2c0: sda=6, scl=7"},
			{"i2c:" + strings.Repeat("9", 999), "", RuleUnknownBus, "i2c0: sda=6, scl=7"},
			{"i2c:2", "", pin.RuleSystemPin, ""},
			{"i2c:0", `{"sda":"7","scl":"6"}`, RuleLines, "sda=6, scl=7"},
			{"i2c:0", `{"sda":"8"}`, RuleLines, "sda=6, scl=7"},
			{"i2c:", `{"sda":"LED","scl":"7"}`, RuleLines, "i2c0: sda=6, scl=7"},
			{"i2c:", `{"sda":"0","scl":"1"}`, pin.RuleSystemPin, "i2c0: sda=6, scl=7"},
			{"i2c:", `{"sda":"99","scl":"98"}`, pin.RuleUnknownPin, "i2c0: sda=6, scl=7"},
			{"uart:1", `{"rts":"6"}`, RuleLines, "tx=17, rx=18"},
			{"i2c:0", `{"freq":0}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":-1}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":1e5}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":100000.0}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":99999999999999999999999}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":5000001}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":"100000"}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":true}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":[1]}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":1,"freq":2}`, pin.RuleArgument, ""},
			{"i2c:0", `{"Freq":100000}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":1}{}`, pin.RuleArgument, ""},
			{"i2c:0", `{"freq":1`, pin.RuleArgument, ""},
			{"i2c:0", `null`, pin.RuleArgument, ""},
			{"i2c:0", "{\"sda\":\"\xff\"}", pin.RuleArgument, ""},
			{"i2c:0", `{"sda":"` + strings.Repeat("6", limits.BusSettingsBytes) + `"}`, pin.RuleArgument, ""},
			{"spi:1", `{"bits":16}`, pin.RuleArgument, ""},
			{"uart:1", `{"bits":9}`, pin.RuleArgument, ""},
			{"uart:1", `{"invert":1}`, pin.RuleArgument, ""},
		}
		for _, tt := range tests {
			f := r.refused(agent, hw.Call{Op: hw.OpBusOpen, Text: tt.text, Data: []byte(tt.settings)}, tt.rule)
			if tt.nearest != "" && (len(f.Nearest) == 0 || f.Nearest[0] != tt.nearest) {
				t.Errorf("%.20s %s: got nearest %q want %q", tt.text, tt.settings, f.Nearest, tt.nearest)
			}
			if len(f.Message) > limits.ReasonBytes {
				t.Errorf("%.20s: got a message of %d bytes", tt.text, len(f.Message))
			}
		}
		if len(r.f.log) > 0 {
			t.Errorf("the driver was asked all the same: %v", r.f.log)
		}
	})
}

// TestLinesBelongToTheBus: a line of an open bus is nobody's pin, a pin in use is nobody's line.
func TestLinesBelongToTheBus(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		sda := pin.Handle(r.h("SDA"))
		r.open("i2c:0", "")
		_, err := r.table.Configure(agent, sda, hw.ModeOpenDrain, hw.PullNone, 0)
		check := func(what string, err error, rule string) {
			t.Helper()
			f, ok := err.(*pin.Refusal) //nolint:errorlint // the table returns it as it is
			if !ok || f.Rule != rule || f.Errno != 16 || f.Code != "conflict" {
				t.Errorf("%s: got %v want a refusal by %q", what, err, rule)
			}
		}
		check("configure", err, pin.RuleInUse)
		_, err = r.table.Configure(agent, sda, hw.ModeIn, hw.PullUp, -1)
		check("configure as input", err, pin.RuleInUse)
		_, err = r.table.Write(agent, sda, 0)
		check("write", err, pin.RuleInUse)
		if _, err := r.table.Read(reader, sda); err != nil {
			t.Errorf("to look at the line: %v", err)
		}
		if got := r.table.Snapshot()[sda]; got.Mode != hw.ModeBus || got.On {
			t.Errorf("got %+v", got)
		}
		r.do(agent, hw.Call{Op: hw.OpBusClose, Pin: i2c0})
		if _, err := r.table.Write(agent, sda, 0); err != nil {
			t.Fatal(err)
		}
		_, _, err = r.Call(t.Context(), agent, hw.Call{Op: hw.OpBusOpen, Text: "i2c:0"})
		check("open on a line that is on", err, pin.RuleInUse)
		// What was taken before the line that is in use is free again.
		if _, err := r.table.Write(agent, pin.Handle(r.h("SCL")), 1); err != nil {
			t.Error(err)
		}
		if _, err := r.table.Write(agent, sda, 1); err != nil {
			t.Fatal(err)
		}
		r.open("i2c:0", "")
		// The chip select is the program's.
		r.open("spi:1", "")
		if _, err := r.table.Write(agent, pin.Handle(r.h("CS")), 0); err != nil {
			t.Error(err)
		}
	})
}

func TestTransfers(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", "")
		if got := r.do(agent, write(bus, 1, 2, 0xA5)); got.Value != 3 || got.Errno != 0 {
			t.Errorf("write: got %+v", got)
		}
		if got := r.do(reader, read(bus, 2)); !bytes.Equal(got.Data, []byte{0xA5, 0xA5}) {
			t.Errorf("read: got %+v", got)
		}
		if got := r.do(agent, hw.Call{Op: hw.OpI2C, Pin: bus, A: deaf, Data: []byte{1}}); got.Value != 0 || got.Errno != 0 {
			t.Errorf("a byte not acknowledged: got %+v", got)
		}
		if got := r.do(agent, hw.Call{Op: hw.OpI2C, Pin: bus, A: 0x21, Data: []byte{1}}); got.Errno != 19 {
			t.Errorf("nobody there: got %+v", got)
		}
		if got := r.do(reader, hw.Call{Op: hw.OpI2CScan, Pin: bus}); !bytes.Equal(got.Data, []byte{expander, deaf}) {
			t.Errorf("scan: got %+v", got)
		}
		r.open("spi:1", "")
		if got := r.do(agent, hw.Call{Op: hw.OpSPI, Pin: spi1, A: 1, Data: []byte("flash")}); string(got.Data) != "flash" {
			t.Errorf("SPI: got %+v", got)
		}
		if got := r.do(agent, hw.Call{Op: hw.OpSPI, Pin: spi1, Data: []byte("x")}); len(got.Data) != 0 {
			t.Errorf("SPI without reading: got %+v", got)
		}
		r.open("uart:1", "")
		came := 0
		cancel, err := r.Watch(reader, uart1, func() { came++ })
		if err != nil {
			t.Fatal(err)
		}
		if got := r.do(agent, hw.Call{Op: hw.OpUARTWrite, Pin: uart1, Data: []byte("gps")}); got.Value != 3 {
			t.Errorf("UART write: got %+v", got)
		}
		cancel()
		r.do(agent, hw.Call{Op: hw.OpUARTWrite, Pin: uart1, Data: []byte("!")})
		if came != 1 {
			t.Errorf("arrivals: got %d want 1", came)
		}
		if got := r.do(reader, hw.Call{Op: hw.OpUARTAny, Pin: uart1}); got.Value != 4 {
			t.Errorf("UART any: got %+v", got)
		}
		if got := r.do(reader, hw.Call{Op: hw.OpUARTRead, Pin: uart1, A: 16}); string(got.Data) != "gps!" {
			t.Errorf("UART read: got %+v", got)
		}
		if got := r.kinds(); len(got) > 0 {
			t.Errorf("events: got %v", got)
		}
	})
}

// TestArguments: what makes no sense is refused before the driver hears of it.
func TestArguments(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", `{"freq":1}`)
		r.open("spi:1", "")
		r.open("uart:1", "")
		long := make([]byte, limits.BusBytes+1)
		var calls []hw.Call
		for _, addr := range []int64{math.MinInt64, -1, 0, 7, 0x78, 0x80, 0x120, math.MaxInt64} {
			calls = append(calls, hw.Call{Op: hw.OpI2C, Pin: bus, A: addr, C: 1})
		}
		for _, n := range []int64{math.MinInt64, -1, limits.BusBytes + 1, math.MaxInt64} {
			calls = append(calls, read(bus, n), hw.Call{Op: hw.OpUARTRead, Pin: uart1, A: n})
		}
		bits := func(ns uint32, n int) []byte {
			data := make([]byte, 16+n)
			for i := range 4 {
				binary.LittleEndian.PutUint32(data[4*i:], ns)
			}
			return data
		}
		calls = append(calls,
			hw.Call{Op: hw.OpI2C, Pin: bus, A: expander, B: 4}, hw.Call{Op: hw.OpI2C, Pin: bus, A: expander, B: -1},
			hw.Call{Op: hw.OpI2C, Pin: bus, A: expander, B: hw.I2CNoStart, Data: []byte{1}}, // nothing to go on with
			write(bus, 1, 2, 3), // longer than the longest transfer at 1 Hz
			hw.Call{Op: hw.OpI2CScan, Pin: bus}, hw.Call{Op: hw.OpI2C, Pin: spi1, A: expander}, hw.Call{Op: hw.OpI2C, Pin: 999, A: expander},
			hw.Call{Op: hw.OpI2C, Pin: bus, A: expander, Data: long}, hw.Call{Op: hw.OpSPI, Pin: spi1, Data: long},
			hw.Call{Op: hw.OpSPI, Pin: spi1, A: 2}, hw.Call{Op: hw.OpUARTWrite, Pin: uart1, Data: long},
			hw.Call{Op: hw.OpPulse, Pin: r.h("KEY"), A: 2}, hw.Call{Op: hw.OpPulse, Pin: r.h("KEY"), B: -1},
			hw.Call{Op: hw.OpPulse, Pin: r.h("KEY"), B: math.MaxInt64},
			hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: long[:15]}, hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: long},
			hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: bits(math.MaxUint32, limits.BitstreamBytes)},
			hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: bits(1_000_000, 100)},
			hw.Call{Op: hw.OpOneWire, Pin: r.h("PROBE"), A: 9}, hw.Call{Op: hw.OpOneWire, Pin: r.h("PROBE"), A: hw.OneWireRead, B: -1},
			hw.Call{Op: hw.OpOneWire, Pin: r.h("PROBE"), A: hw.OneWireRead, B: 1 << 40},
			hw.Call{Op: hw.OpOneWire, Pin: r.h("PROBE"), A: hw.OneWireWrite, Data: long},
			hw.Call{Op: hw.OpOneWire, Pin: r.h("PROBE"), A: hw.OneWireBit, B: 2},
			hw.Call{Op: hw.OpPWM, Pin: r.h("LED"), A: -1}, hw.Call{Op: hw.OpPWM, Pin: r.h("LED"), A: 40_000_001, C: -1},
			hw.Call{Op: hw.OpPWM, Pin: r.h("LED"), A: 1000, B: 65_536, C: -1}, hw.Call{Op: hw.OpPWM, Pin: r.h("LED"), A: 1000, B: -1, C: -1},
			hw.Call{Op: hw.OpPWM, Pin: r.h("LED"), A: 1000, C: 1_000_001}, hw.Call{Op: hw.OpPWM, Pin: r.h("LED"), A: math.MaxInt64, C: math.MaxInt64},
			hw.Call{Op: hw.OpCountOpen, Text: "FLOW", B: -1}, hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: 4, B: -1},
			hw.Call{Op: hw.OpCountOpen, Text: "ENC_A", A: 3, B: int64(r.h("ENC_B")), C: 3},
			hw.Call{Op: hw.OpCountOpen, Text: "ENC_A", A: 3, B: int64(r.h("ENC_A")), C: 4},
			hw.Call{Op: hw.OpCountOpen, Text: "ENC_A", A: 3, B: math.MaxInt64, C: 4},
			hw.Call{Op: hw.OpNetwork, Text: "connect"}, hw.Call{Op: 250},
		)
		for _, call := range calls {
			if f := r.refused(agent, call, pin.RuleArgument); f.Errno != 22 {
				t.Errorf("%+v: got errno %d", call, f.Errno)
			}
		}
		if len(r.sent()) > 0 {
			t.Errorf("bytes were sent all the same: % x", r.sent())
		}
		if got := r.do(agent, hw.Call{Op: hw.OpNetwork, Text: "scan"}); got.Errno != 19 {
			t.Errorf("no network: got %+v", got)
		}
	})
}

func TestPWMByTheGate(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		_, e, err := r.Call(t.Context(), agent, hw.Call{Op: hw.OpPWM, Pin: r.h("LED"), A: 50, C: 1_500_000})
		if err != nil || e == nil || e.Freq != 50 || e.Duty != 4915 || !e.Changed() || e.To != 1 {
			t.Errorf("a servo: got %+v, %v", e, err)
		}
		r.refused(reader, hw.Call{Op: hw.OpPWM, Pin: r.h("LED"), A: 50, C: -1}, pin.RuleScope)
	})
}

func TestTimedProtocols(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		strip := hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: append(make([]byte, 16), 1, 2, 3)}
		if _, e, err := r.Call(t.Context(), agent, strip); err != nil || e == nil || !bytes.Equal(r.sent(), []byte{1, 2, 3}) {
			t.Errorf("bit stream: got %v, %v, sent % x", e, err, r.sent())
		}
		if got := r.do(agent, hw.Call{Op: hw.OpDHT, Pin: r.h("PROBE")}); !bytes.Equal(got.Data, []byte{2, 0x8c, 0, 0xe6, 0x74}) {
			t.Errorf("DHT: got %+v", got)
		}
		if got := r.do(agent, hw.Call{Op: hw.OpDHT, Pin: r.h("WIRE")}); got.Errno != 110 {
			t.Errorf("DHT, nobody there: got %+v", got)
		}
		for name, want := range map[string]int64{"PROBE": 1, "WIRE": 0} {
			if got := r.do(agent, hw.Call{Op: hw.OpOneWire, Pin: r.h(name)}); got.Value != want {
				t.Errorf("one-wire reset on %s: got %+v want %d", name, got, want)
			}
		}
		if got := r.do(agent, hw.Call{Op: hw.OpOneWire, Pin: r.h("PROBE"), A: hw.OneWireRead, B: 9}); len(got.Data) != 9 {
			t.Errorf("one-wire read: got %+v", got)
		}
		for _, name := range []string{"STRIP", "PROBE", "WIRE"} {
			if got := r.table.Snapshot()[r.h(name)]; got.On || got.Fault != "" || got.Level != got.Safe {
				t.Errorf("%s afterwards: got %+v", name, got)
			}
		}
		r.refused(reader, strip, pin.RuleScope)
		strip.Pin = r.h("LED")
		r.refused(agent, strip, pin.RuleCapability)
	})
}
