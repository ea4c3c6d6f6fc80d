package sim

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim/servo"
	"github.com/pal-terminal/pal/hw"
)

func TestPWM(t *testing.T) {
	inBubble(t, func(r rig) {
		pwm := func(name string, freq int64, duty int) {
			t.Helper()
			if err := r.b.PWM(r.pin(name), freq, duty); err != nil {
				t.Errorf("PWM %s: %v", name, err)
			}
		}
		pwm("LED", 1000, 16_384)
		r.same("dimmed", asJSON(t, r.state("LED")), `{"lit":true,"switched":0,"brightness":25,"frequency":1000}`)
		high := 0
		for range 1000 {
			high += r.get("LED")
			pass(10 * time.Microsecond)
		}
		if high < 240 || high > 260 { // 16,384 is a little more than a quarter
			t.Errorf("samples that are high: got %d want 250 of 1000", high)
		}
		if width, err := r.b.Pulse(r.t.Context(), r.pin("LED"), 1, time.Second); err != nil || width.Round(time.Microsecond) != 250*time.Microsecond {
			t.Errorf("pulse of PWM: got %v, %v want 250µs", width, err)
		}
		pwm("LED", 1000, 65_535)
		r.same("level when always high", r.get("LED"), 1)
		r.out("LED", 0)
		r.same("after PWM", asJSON(t, r.state("LED")), `{"lit":false,"switched":0}`)

		for _, tt := range []struct {
			us   int
			want servo.State
		}{
			{500, servo.State{Angle: 0, Driven: true, Moves: 1}},
			{1500, servo.State{Angle: 90, Driven: true, Moves: 2}},
			{2500, servo.State{Angle: 180, Driven: true, Moves: 3}},
			{3000, servo.State{Angle: 180, Moves: 3, Refused: 1}},
		} {
			pwm("SERVO", 50, (tt.us*65_535+10_000)/20_000)
			got, _ := r.state("SERVO").(servo.State)
			if math.Abs(got.PulseUS-float64(tt.us)) > 0.2 { // what 16 bits of duty leave
				t.Errorf("pulse: got %v µs want %d", got.PulseUS, tt.us)
			}
			got.PulseUS = 0
			r.same("servo", got, tt.want)
		}
		pwm("BUZZER", 440, 32_768)
		pwm("BUZZER", 880, 32_768)
		pwm("BUZZER", 880, 0)
		r.same("buzzer", asJSON(t, r.state("BUZZER")), `{"sounding":false,"frequency":0,"tones":2,"melody":[440,880],"clicks":0}`)

		for _, bad := range []struct {
			pin  string
			freq int64
			duty int
		}{{"LED", 0, 1}, {"LED", 40_000_001, 1}, {"LED", 1, -1}, {"LED", 1, 65_536}, {"RELAY_1", 1, 1}} {
			if err := r.b.PWM(r.pin(bad.pin), bad.freq, bad.duty); err == nil {
				t.Errorf("PWM %+v: got no error", bad)
			}
		}
	})
}

func TestStripTakesTheDataSheetsTimes(t *testing.T) {
	usual := [4]uint32{400, 850, 800, 450}
	for _, tt := range []struct {
		name string
		ns   [4]uint32
		bad  bool
	}{
		{"usual", usual, false}, {"least", [4]uint32{250, 700, 650, 300}, false}, {"most", [4]uint32{550, 1000, 950, 600}, false},
		{"long lows", [4]uint32{400, 5000, 800, 5000}, false}, {"0 too long", [4]uint32{551, 850, 800, 450}, true},
		{"1 too short", [4]uint32{400, 850, 649, 450}, true}, {"half speed", [4]uint32{800, 1700, 1600, 900}, true},
		{"latched", [4]uint32{400, 50_000, 800, 450}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, b := opened(t, "bench-sim")
			at := pin(t, d, "RGB")
			if err := b.Configure(at, hw.ModeOut, hw.PullNone, 0); err != nil {
				t.Fatal(err)
			}
			// Green, red, blue; and a second light that is not there.
			if err := b.Bitstream(at, tt.ns, []byte{0x20, 0x10, 0x30, 1, 2, 3}); err != nil {
				t.Fatal(err)
			}
			want := `{"lights":["#102030"],"shown":1,"bad_timing":0}`
			if tt.bad {
				want = `{"lights":["#000000"],"shown":0,"bad_timing":1}`
			}
			if got := asJSON(t, sim(t, b, "show", "RGB", "").State); got != want {
				t.Errorf("got %s want %s", got, want)
			}
		})
	}
	d, b := opened(t, "bench-sim")
	if err := b.Bitstream(pin(t, d, "RGB"), usual, nil); err == nil {
		t.Error("bit stream on no output: got no error")
	}
}

func TestDHT22(t *testing.T) {
	inBubble(t, func(r rig) {
		read := func() [5]byte {
			t.Helper()
			frame, err := r.b.DHT(r.t.Context(), r.pin("DHT22"))
			if err != nil {
				t.Fatal(err)
			}
			return frame
		}
		set := func(temperature, humidity string) {
			r.sim("set", "DHT22", "temperature="+temperature)
			r.sim("set", "DHT22", "humidity="+humidity)
		}
		// The two examples of the data sheet, section 7.3.
		set("35.1", "65.2")
		r.same("65.2 %, 35.1 °C", read(), [5]byte{0x02, 0x8C, 0x01, 0x5F, 0xEE})
		set("-10.1", "65.2")
		pass(1999 * time.Millisecond)
		r.same("before two seconds", read(), [5]byte{0x02, 0x8C, 0x01, 0x5F, 0xEE})
		pass(time.Millisecond)
		r.same("-10.1 °C", read(), [5]byte{0x02, 0x8C, 0x80, 0x65, 0x73})
		r.sim("fault", "DHT22", "crc")
		r.same("wrong checksum", read(), [5]byte{0x02, 0x8C, 0x80, 0x65, 0x74})
		r.sim("fault", "DHT22", "disconnect")
		if _, err := r.b.DHT(r.t.Context(), r.pin("DHT22")); !errors.Is(err, board.ErrNoDevice) {
			t.Errorf("disconnected: got %v want ErrNoDevice", err)
		}
		r.sim("fault", "DHT22", "off")
		r.same("mended", read(), [5]byte{0x02, 0x8C, 0x80, 0x65, 0x73})
		if _, err := r.b.DHT(r.t.Context(), r.pin("LED")); !errors.Is(err, board.ErrNoDevice) {
			t.Errorf("no sensor: got %v want ErrNoDevice", err)
		}
	})
}

// wire speaks one-wire on bench-sim.
type wire struct{ rig }

func (w wire) do(op int64, out, in []byte, bit int) int {
	w.t.Helper()
	v, err := w.b.OneWire(w.t.Context(), w.pin("DS18B20"), op, out, in, bit)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w wire) reset() int        { return w.do(hw.OneWireReset, nil, nil, 0) }
func (w wire) write(p ...byte)   { w.do(hw.OneWireWrite, p, nil, 0) }
func (w wire) bit(bit int) int   { return w.do(hw.OneWireBit, nil, nil, bit) }
func (w wire) read(n int) []byte { p := make([]byte, n); w.do(hw.OneWireRead, nil, p, 0); return p }

// search finds the codes on the line as every driver does: at a fork it goes one way and comes back for the other.
func (w wire) search(command byte) (codes []string) {
	w.t.Helper()
	fork := 0
	var code [64]int
	for {
		w.reset()
		w.write(command)
		last := 0
		for i := range 64 {
			bit, complement := w.bit(-1), w.bit(-1)
			switch {
			case bit == 1 && complement == 1:
				return codes
			case bit != complement:
				code[i] = bit
			case i+1 == fork:
				code[i] = 1
			case i+1 > fork:
				code[i] = 0
			}
			if bit == complement && code[i] == 0 {
				last = i + 1
			}
			w.bit(code[i])
		}
		var rom [8]byte
		for i, b := range code {
			rom[i/8] |= byte(b << (i & 7))
		}
		codes = append(codes, string(rom[:]))
		if fork = last; fork == 0 {
			return codes
		}
	}
}

func TestDS18B20(t *testing.T) {
	inBubble(t, func(r rig) {
		w := wire{r}
		if w.reset() != 1 {
			t.Fatal("nobody is present")
		}
		codes := w.search(0xF0)
		if len(codes) != 2 || codes[0][0] != 0x28 || codes[1][0] != 0x28 {
			t.Fatalf("search: got %x want two codes of family 28", codes)
		}
		r.sim("set", "DS18B20", "25.0625")
		r.sim("set", "DS18B20_B", "-10.125")
		scratch := func(code string) []byte {
			w.reset()
			w.write(append([]byte("\x55"+code), 0xBE)...)
			return w.read(9)
		}
		for _, code := range codes {
			r.same("power-up", scratch(code)[:8], []byte{0x50, 0x05, 0x4B, 0x46, 0x7F, 0xFF, 0x0C, 0x10})
		}
		w.reset()
		w.write(0xCC, 0x44)
		pass(749 * time.Millisecond)
		r.same("bit while converting", w.bit(-1), 0)
		pass(time.Millisecond)
		r.same("bit after 750 ms", w.bit(-1), 1)
		// Table 1 of the data sheet: +25.0625 is 0191, -10.125 is FF5E.
		got := [][]byte{scratch(codes[0])[:2], scratch(codes[1])[:2]}
		want := [][]byte{{0x91, 0x01}, {0x5E, 0xFF}}
		if asJSON(t, r.state("DS18B20"))[len(`{"temperature":25.0625,"rom":"`):][:16] != hexOf(codes[0]) {
			slices.Reverse(want)
		}
		r.same("temperatures", got, want)
	})
}

func hexOf(s string) string {
	const digits = "0123456789abcdef"
	var sb strings.Builder
	for _, c := range []byte(s) {
		sb.WriteByte(digits[c>>4])
		sb.WriteByte(digits[c&15])
	}
	return sb.String()
}

func TestDS18B20ResolutionAlarmAndMemory(t *testing.T) {
	inBubble(t, func(r rig) {
		w := wire{r}
		r.sim("fault", "DS18B20_B", "disconnect")
		r.sim("set", "DS18B20", "25.9375")
		for i, tt := range []struct {
			config byte
			takes  time.Duration
			low    byte
		}{{0x1F, 93_750 * time.Microsecond, 0x98}, {0x3F, 187_500 * time.Microsecond, 0x9C}, {0x5F, 375 * time.Millisecond, 0x9E}, {0x7F, 750 * time.Millisecond, 0x9F}} {
			w.reset()
			w.write(0xCC, 0x4E, 25, 0x80, tt.config)
			w.reset()
			w.write(0xCC, 0x44)
			pass(tt.takes - time.Microsecond)
			r.same("busy", w.bit(-1), 0)
			pass(time.Microsecond)
			r.same("done", w.bit(-1), 1)
			w.reset()
			w.write(0xCC, 0xBE)
			s := w.read(9)
			r.same("scratchpad", s[:5], []byte{tt.low, 0x01, 25, 0x80, tt.config})
			if i == 0 {
				r.same("alarm at TH", len(w.search(0xEC)), 1)
			}
		}
		w.reset()
		w.write(0xCC, 0x4E, 26, 0x80, 0x7F)
		w.reset()
		w.write(0xCC, 0x48)
		pass(10 * time.Millisecond)
		w.reset()
		w.write(0xCC, 0x44)
		pass(time.Second)
		r.same("alarm below TH", len(w.search(0xEC)), 0)
		r.sim("fault", "DS18B20", "brownout")
		w.reset()
		w.write(0xCC, 0xBE)
		r.same("after power-up, with what was copied", w.read(5), []byte{0x50, 0x05, 26, 0x80, 0x7F})
		r.sim("stuck", "DS18B20", "1")
		r.same("presence on a line that is stuck high", w.reset(), 0)
		r.sim("stuck", "DS18B20", "off")
		r.sim("fault", "DS18B20", "disconnect")
		r.same("presence without devices", w.reset(), 0)
		r.same("read without devices", w.read(1), []byte{0xFF})
	})
}
