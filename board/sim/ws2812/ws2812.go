// Package ws2812 simulates a strip of WS2812B colour lights: 24 bits for each, green, red, blue, most significant bit first, each bit a
// high and a low whose widths tell 0 from 1 (WorldSemi WS2812B data sheet, "data transfer time" and "composition of 24bit data").
// Bits beyond the last light fall off the end of the strip.
//
// A stream whose widths are outside the data sheet's tolerance of 150 ns changes nothing and is counted. Lows may be longer than that, up to
// the 50 µs that end a transfer, as the part takes them.
package ws2812

import (
	"fmt"
	"image"
	"image/color"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
	"github.com/pal-terminal/pal/limits"
)

// Widths in ns.
const (
	high0, low0, high1, low1 = 400, 850, 800, 450
	tolerance                = 150
	latch                    = 50_000
	bytesEach                = 3
)

// Strip is a light strip.
type Strip struct {
	setting.Faults
	lights []color.RGBA
	shown  int
	bad    int
}

// State is what `pal sim show` prints.
type State struct {
	Lights    []string `json:"lights"`     // "#rrggbb", the one next to the board first
	Shown     int      `json:"shown"`      // streams taken
	BadTiming int      `json:"bad_timing"` // streams not taken
}

// New returns a dark strip of as many lights as "pixels" says, 16 when it says nothing.
func New(_ device.World, o device.Options) (device.Device, error) {
	n := 16
	if text, ok := o.Values["pixels"]; ok {
		var err error
		if n, err = setting.Int("pixels", text, 1, limits.SimPixels); err != nil {
			return nil, err
		}
	}
	s := &Strip{lights: make([]color.RGBA, n)}
	s.dark()
	return s, setting.Apply(s, o.Values, "pixels")
}

func (s *Strip) dark() {
	for i := range s.lights {
		s.lights[i] = color.RGBA{A: 255}
	}
}

func near(v uint32, want int) bool { return int(v) >= want-tolerance && int(v) <= want+tolerance }

func lasting(v uint32, want int) bool { return int(v) >= want-tolerance && int(v) < latch }

// Bitstream takes colours.
func (s *Strip) Bitstream(ns [4]uint32, data []byte) {
	if !near(ns[0], high0) || !lasting(ns[1], low0) || !near(ns[2], high1) || !lasting(ns[3], low1) {
		s.bad++
		return
	}
	s.shown++
	for i := range min(len(s.lights), len(data)/bytesEach) {
		p := data[i*bytesEach:]
		s.lights[i] = color.RGBA{R: p[1], G: p[0], B: p[2], A: 255}
	}
}

// Image returns the strip as a picture one pixel high.
func (s *Strip) Image() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, len(s.lights), 1))
	for i, c := range s.lights {
		m.SetRGBA(i, 0, c)
	}
	return m
}

// Reset makes it dark and forgets the counts.
func (s *Strip) Reset() {
	s.dark()
	s.shown, s.bad = 0, 0
}

// Set refuses: a strip shows what it is told.
func (s *Strip) Set(key, _ string) error { return setting.Unknown(key) }

// State returns what to show.
func (s *Strip) State() any {
	list := make([]string, len(s.lights))
	for i, c := range s.lights {
		list[i] = fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	}
	return State{Lights: list, Shown: s.shown, BadTiming: s.bad}
}
