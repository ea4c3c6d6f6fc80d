package ssd1306_test

import (
	"bytes"
	"image"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/ssd1306"
)

var spec = devicetest.Spec{New: ssd1306.New, Faults: []string{"dark"}}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

// setup is the start sequence of the application notes for a 128×64 module, one command a control byte, as drivers send it.
const setup = `
	w 80 AE
	w 80 20 80 00        # horizontal addressing
	w 00 40 A1 C8        # start line, mounted the usual way
	w 00 A8 3F D3 00     # mux 64, offset 0
	w 80 DA
	w 80 12              # an argument of its own transaction
	w 00 D5 80 D9 F1 DB 30 81 FF A4 A6
	w 00 8D 14 AF
`

func build(t *testing.T, values map[string]string) (*ssd1306.Display, *devicetest.World) {
	t.Helper()
	w := devicetest.NewWorld()
	d, err := ssd1306.New(w, device.Options{Addr: -1, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return d.(*ssd1306.Display), w
}

// lit returns the pixels that can be seen lit.
func lit(d *ssd1306.Display) []image.Point {
	img := d.Image()
	var points []image.Point
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, _, _, _ := img.At(x, y).RGBA(); r != 0 {
				points = append(points, image.Pt(x, y))
			}
		}
	}
	return points
}

func TestPicture(t *testing.T) {
	pt := image.Pt
	for _, tt := range []struct {
		name   string
		height string
		script string
		want   []image.Point
	}{
		{"upright", "64", setup + "w 00 21 00 7F 22 00 07\n w 40 01 80", []image.Point{pt(0, 0), pt(1, 7)}},
		{"second page", "64", setup + "w 00 21 03 7F 22 01 07\n w 40 03", []image.Point{pt(3, 8), pt(3, 9)}},
		{"no remapping turns it round", "64", setup + "w 00 A0 C0 21 00 7F 22 00 07\n w 40 01", []image.Point{pt(127, 63)}},
		{"remapping leaves what is stored", "64", setup + "w 00 21 00 7F 22 00 07\n w 40 01\n w 00 A0", []image.Point{pt(0, 0)}},
		{"scan direction acts at once", "64", setup + "w 00 21 00 7F 22 00 07\n w 40 01\n w 00 C0", []image.Point{pt(0, 63)}},
		{"start line 8 shows RAM row 8 on top", "64", setup + "w 00 21 00 7F 22 01 07\n w 40 01\n w 00 48", []image.Point{pt(0, 0)}},
		{"start line wraps", "64", setup + "w 00 21 00 7F 22 00 07\n w 40 01\n w 00 48", []image.Point{pt(0, 56)}},
		{"offset 8, direct: output 0 shows row 8", "64", setup + "w 00 C0 D3 08 21 00 7F 22 01 07\n w 40 01", []image.Point{pt(0, 63)}},
		{"offset 8, remapped: output 7 shows row 0", "64", setup + "w 00 D3 08 21 00 7F 22 00 07\n w 40 01", []image.Point{pt(0, 56)}},
		{"mux 16 hides row 16", "64", setup + "w 00 C0 A8 0F 21 00 7F 22 01 07\n w 40 80 00\n w 00 21 00 7F 22 02 07\n w 40 01", []image.Point{pt(0, 48)}},
		{"mux below 16 is refused", "64", setup + "w 00 A8 0E 21 00 7F 22 07 07\n w 40 80", []image.Point{pt(0, 63)}},
		{"sequential outputs on a glass of alternative ones", "64", setup + "w 00 C0 DA 02 21 00 7F 22 00 07\n w 40 02\n w 00 21 00 7F 22 04 07\n w 40 01", []image.Point{pt(0, 61), pt(0, 62)}},
		{"left and right exchanged", "64", setup + "w 00 C0 DA 32 21 00 7F 22 00 07\n w 40 01", []image.Point{pt(0, 62)}},
		{"128x32", "32", setup + "w 00 A8 1F DA 02 21 00 7F 22 00 03\n w 40 01\n w 00 21 7F 7F 22 03 03\n w 40 80", []image.Point{pt(0, 0), pt(127, 31)}},
		{"128x32 set up as the larger one loses every other row", "32", setup + "w 00 A8 1F 21 00 7F 22 00 03\n w 40 03", []image.Point{pt(0, 15+1)}},
		{"off", "64", setup + "w 40 01\n w 00 AE", nil},
		{"no charge pump", "64", setup + "w 40 01\n w 00 8D 10", nil},
		{"supply gone", "64", setup + "w 40 01\n fault dark", nil},
		{"reset", "64", setup + "w 40 01\n reset", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, w := build(t, map[string]string{"height": tt.height})
			devicetest.Run(t, w, d, tt.script)
			got := lit(d)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lit pixels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWholeSurface(t *testing.T) {
	d, w := build(t, nil)
	devicetest.Run(t, w, d, setup+"w 00 A5")
	if n := len(lit(d)); n != 128*64 {
		t.Errorf("all on: got %d pixels, want %d", n, 128*64)
	}
	devicetest.Run(t, w, d, "w 00 A4 A7 \n w 40 0F")
	if n := len(lit(d)); n != 128*64-4 {
		t.Errorf("inverse with four dots: got %d pixels, want %d", n, 128*64-4)
	}
	devicetest.Run(t, w, d, "w 00 81 00")
	if v := d.Image().(*image.Gray).GrayAt(50, 50).Y; v != 128 {
		t.Errorf("lowest contrast: got %d, want 128", v)
	}
	devicetest.Run(t, w, d, "w 00 81 FF")
	if v := d.Image().(*image.Gray).GrayAt(50, 50).Y; v != 255 {
		t.Errorf("highest contrast: got %d, want 255", v)
	}
}

func TestExternalSupplyNeedsNoPump(t *testing.T) {
	d, w := build(t, map[string]string{"supply": "external"})
	devicetest.Run(t, w, d, setup+"w 00 8D 10 A5")
	if n := len(lit(d)); n != 128*64 {
		t.Errorf("got %d pixels, want all", n)
	}
}

// at returns the RAM at a page and a column.
func at(d *ssd1306.Display, page, column int) byte { return d.RAM()[page*128+column] }

func TestAddressing(t *testing.T) {
	type cell struct{ page, column int }
	for _, tt := range []struct {
		name   string
		script string
		want   map[cell]byte
	}{
		{"horizontal in a window", "w 00 20 00 21 05 06 22 02 03 \n w 40 11 22 33 44 55", map[cell]byte{{2, 5}: 0x55, {2, 6}: 0x22, {3, 5}: 0x33, {3, 6}: 0x44}},
		{"vertical in a window", "w 00 20 01 21 05 06 22 02 03 \n w 40 11 22 33 44 55", map[cell]byte{{2, 5}: 0x55, {3, 5}: 0x22, {2, 6}: 0x33, {3, 6}: 0x44}},
		{"page is the mode of reset", "w 00 B3 0A 11 \n w 40 AA", map[cell]byte{{3, 0x1A}: 0xAA}},
		{"page wraps to its own begin", "w 00 B7 0F 17 \n w 40 AA BB", map[cell]byte{{7, 127}: 0xAA, {7, 0}: 0xBB}},
		{"page commands do nothing in horizontal mode", "w 00 20 00 21 00 7F 22 00 07 B3 0A 11 \n w 40 AA", map[cell]byte{{0, 0}: 0xAA, {3, 0x1A}: 0}},
		{"mode 3 is invalid", "w 00 20 01 20 03 21 00 01 22 00 01 \n w 40 01 02", map[cell]byte{{0, 0}: 1, {1, 0}: 2}},
		{"the pointer outlives a transaction", "w 00 B0 00 10 \n w 40 01 \n w 40 02", map[cell]byte{{0, 0}: 1, {0, 1}: 2}},
		{"single data bytes between commands", "w 80 B0 C0 77 80 B1 C0 88", map[cell]byte{{0, 0}: 0x77, {1, 1}: 0x88}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, w := build(t, nil)
			devicetest.Run(t, w, d, tt.script)
			for c, want := range tt.want {
				if got := at(d, c.page, c.column); got != want {
					t.Errorf("page %d column %d: got %#x, want %#x", c.page, c.column, got, want)
				}
			}
		})
	}
}

func TestFrame(t *testing.T) {
	d, w := build(t, nil)
	devicetest.Run(t, w, d, setup+"w 00 21 00 7F 22 00 07")
	frame := make([]byte, 1024)
	for i := range frame {
		frame[i] = byte(i * 7)
	}
	for range 3 {
		send(d, frame)
	}
	if !bytes.Equal(d.RAM(), frame) {
		t.Error("the RAM is not what was written")
	}
	s := d.State().(ssd1306.State)
	if s.Frames != 3 || s.Written != 3*1024 || s.Lit == 0 || !s.On || s.Mode != "horizontal" {
		t.Errorf("got %+v", s)
	}
}

func send(d device.I2C, frame []byte) {
	d.Start(false)
	d.Write(0x40)
	for _, b := range frame {
		d.Write(b)
	}
	d.Stop()
}

// Many bytes at once do what they do one by one, wherever the transaction is cut.
func TestWriteAll(t *testing.T) {
	wire := []byte{0x80, 0x20, 0x80, 0x00, 0xC0, 0x11, 0x80, 0x21, 0x80, 5, 0x80, 9, 0x40, 1, 2, 3, 4, 5, 6, 7}
	one, _ := build(t, nil)
	one.Start(false)
	for _, b := range wire {
		one.Write(b)
	}
	for cut := range len(wire) {
		many, _ := build(t, nil)
		many.Start(false)
		if n := many.WriteAll(wire[:cut]) + many.WriteAll(wire[cut:]); n != len(wire) {
			t.Errorf("cut at %d: got %d bytes acknowledged, want %d", cut, n, len(wire))
		}
		if diff := cmp.Diff(one.State(), many.State()); diff != "" {
			t.Fatalf("cut at %d (-one by one +at once):\n%s", cut, diff)
		}
	}
}

func TestStatus(t *testing.T) {
	d, w := build(t, nil)
	devicetest.Run(t, w, d, "r 40 \n w 00 AF \n r 00")
}

// The frame of the reset settings but for pre-charge is 64 rows of 2+2+50 clocks at 370 kHz: 9.34 ms (section 8.3), and the shortest
// interval is two.
func TestScroll(t *testing.T) {
	start := "w 00 20 00 21 00 7F 22 00 07 \n w 40 01 \n"
	for _, tt := range []struct {
		name, script string
		page, column int
	}{
		{"right", start + "w 00 26 00 00 07 00 00 FF 2F \n wait 57ms", 0, 3},
		{"left", start + "w 00 27 00 00 07 00 00 FF 2F \n wait 57ms", 0, 125},
		{"remapped", "w 00 A1 \n" + start + "w 00 26 00 00 07 00 00 FF 2F \n wait 57ms", 0, 3},
		{"other pages stay", start + "w 00 26 00 01 07 02 00 FF 2F \n wait 57ms", 0, 0},
		{"stopped", start + "w 00 26 00 00 07 00 00 FF 2F \n wait 20ms \n w 00 2E \n wait 1s", 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, w := build(t, nil)
			devicetest.Run(t, w, d, tt.script)
			if got := at(d, tt.page, tt.column); got != 1 {
				t.Errorf("got %#x at page %d column %d, want the dot there", got, tt.page, tt.column)
			}
		})
	}
	d, w := build(t, nil)
	devicetest.Run(t, w, d, setup+"w 00 D9 22 21 00 7F 22 01 07 \n w 40 01 \n w 00 A3 00 40 29 00 07 07 07 01 2F \n wait 57ms")
	if diff := cmp.Diff([]image.Point{{X: 0, Y: 5}}, lit(d)); diff != "" {
		t.Errorf("vertical scroll (-want +got):\n%s", diff)
	}
}

func TestOptions(t *testing.T) {
	for _, values := range []map[string]string{{"height": "48"}, {"supply": "mains"}, {"colour": "blue"}} {
		_, err := ssd1306.New(devicetest.NewWorld(), device.Options{Addr: -1, Values: values})
		for key := range values {
			if err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("%v: got %v, want an error that names the key", values, err)
			}
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	w := devicetest.NewWorld()
	dev, err := ssd1306.New(w, device.Options{Addr: -1})
	if err != nil {
		b.Fatal(err)
	}
	d := dev.(device.Bulk)
	for _, c := range []byte{0x20, 0x00} {
		d.Start(false)
		d.Write(0x80)
		d.Write(c)
		d.Stop()
	}
	frame := make([]byte, 1024)
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		d.Start(false)
		d.Write(0x40)
		d.WriteAll(frame)
		d.Stop()
	}
}
