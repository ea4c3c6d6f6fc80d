// Package ssd1306 simulates a display module with the controller SSD1306 on I2C: white pixels, 128×64 or 128×32, after Solomon
// Systech's data sheet, revision 1.1.
//
// # Model
//
// Bytes arrive with control bytes (section 8.1.5.2): Co = 0 says that only data or only command bytes follow until STOP, Co = 1 that
// one does. Commands are those of tables 9-1 and 9-2 and of the appendix (charge pump); a command's arguments may come in later
// transactions. The RAM is kept by segment, because remapping (A0, A1) concerns data written later and not what is stored. A read gives
// the status byte (table 8-1 and section 9, D6 = 1 while the display is off).
//
// [Display.Image] is what somebody in front of the module sees. A row of the glass is wired to an output, an output has a row of the
// scan (tables 10-3 and 10-4: mux ratio, offset, direction; figure of command DA: sequential or alternative outputs), and that row
// shows a row of the RAM (start line, vertical scroll). A display that is off, or on without its charge pump, is black. Lit pixels get
// brighter with contrast, from half to full, so that half is the threshold between lit and dark.
//
// Scrolling (26, 27, 29, 2A, 2F) moves one step each so many frames; a frame takes as long as the data sheet's formula in section 8.3
// says with its oscillator at the typical frequency of the setting.
//
// # What it refuses
//
// Nothing: a controller acknowledges every byte, and undefined commands do nothing. Not modelled: fade and zoom of later controllers,
// parallel and SPI interfaces, the analogue meaning of pre-charge and deselect levels.
package ssd1306

import (
	"fmt"
	"image"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	columns = 128
	pages   = 8
	rows    = 8 * pages
)

// Addressing modes of command 20.
const (
	horizontal = iota
	vertical
	paged
)

var modes = [...]string{horizontal: "horizontal", vertical: "vertical", paged: "page"}

// Display is the module. It implements device.I2C, device.Bulk and device.Picture.
type Display struct {
	setting.Faults
	w        device.World
	addr     uint16
	height   int
	external bool // the panel has its own supply and needs no charge pump

	ram [pages][columns]byte // by page and segment, bit 0 on top

	mode             int
	column, page     int
	colLow, colHigh  int // ranges of commands 21 and 22
	pageLow, pageEnd int

	start, mux, offset    int
	segRemap, comRemap    bool
	alternative, exchange bool
	contrast              byte
	allOn, inverse        bool
	on, pump              bool
	clock, precharge      byte
	scroll                scroll
	frames, written       uint64
	control, stream, data bool
	command               [7]byte // being received
	have, need            int
}

// State is what `pal sim show` prints.
type State struct {
	On         bool     `json:"on"`
	ChargePump bool     `json:"charge_pump"`
	Contrast   int      `json:"contrast"`
	Inverse    bool     `json:"inverse"`
	AllOn      bool     `json:"all_on"`
	Mode       string   `json:"mode"`
	StartLine  int      `json:"start_line"`
	Lit        int      `json:"lit"`     // pixels that can be seen lit
	Written    uint64   `json:"written"` // bytes of RAM written since power-up
	Frames     uint64   `json:"frames"`  // times that the pointer came back to the first byte of its window
	RAM        []byte   `json:"ram"`     // 8 pages of 128 columns, as the program addresses them
	Faults     []string `json:"faults,omitempty"`
}

// New builds a display. Values: height 64 or 32, supply pump or external. It has nothing to set; its fault is dark, a panel that
// has lost its supply.
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x3C, 0x3D)
	if err != nil {
		return nil, err
	}
	d := &Display{Faults: setting.NewFaults("dark"), w: w, addr: addr, height: 64}
	for key, value := range o.Values {
		switch {
		case key == "height" && (value == "64" || value == "32"):
			d.height = map[string]int{"64": 64, "32": 32}[value]
		case key == "supply" && (value == "pump" || value == "external"):
			d.external = value == "external"
		case key == "height" || key == "supply":
			return nil, fmt.Errorf("%s: %q is not among height 64 or 32, supply pump or external", key, value)
		default:
			return nil, setting.Unknown(key, "height", "supply")
		}
	}
	d.Reset()
	return d, nil
}

// Reset is the pin RES# after power-up (section 8.5). The RAM of a real controller then holds noise; here it is clear.
func (d *Display) Reset() {
	*d = Display{
		Faults: d.Faults, w: d.w, addr: d.addr, height: d.height, external: d.external,
		mode: paged, colHigh: columns - 1, pageEnd: pages - 1, mux: 64, alternative: true, contrast: 0x7F, clock: 0x80, precharge: 0x22,
	}
	d.scroll.rows = rows
}

// Addresses returns the one address.
func (d *Display) Addresses() []uint16 { return []uint16{d.addr} }

// Start begins a transaction with a control byte.
func (d *Display) Start(bool) bool {
	d.control, d.stream = true, false
	return true
}

// Write takes a control byte or what it announced.
func (d *Display) Write(b byte) bool {
	switch {
	case d.control:
		d.stream, d.data, d.control = b&0x80 == 0, b&0x40 != 0, false
		return true
	case d.data:
		d.store(b)
	default:
		d.take(b)
	}
	d.control = !d.stream
	return true
}

// WriteAll takes many bytes, as Write takes one.
func (d *Display) WriteAll(p []byte) (acked int) {
	for i := 0; i < len(p); i++ {
		if !d.control && d.stream && d.data {
			for _, b := range p[i:] {
				d.store(b)
			}
			break
		}
		d.Write(p[i])
	}
	return len(p)
}

// Read returns the status byte.
func (d *Display) Read() byte {
	if d.on {
		return 0
	}
	return 0x40
}

// Stop ends a transaction. Commands keep waiting for arguments.
func (d *Display) Stop() {}

// segment returns where a column address is in the RAM.
func (d *Display) segment(column int) int {
	if d.segRemap {
		return columns - 1 - column
	}
	return column
}

// store writes a byte of RAM and moves the pointer as section 10.1.3 has it.
func (d *Display) store(b byte) {
	if d.scroll.active {
		d.settle()
	}
	d.ram[d.page][d.segment(d.column)] = b
	d.written++
	switch d.mode {
	case paged:
		d.column = (d.column + 1) % columns
	case vertical:
		if d.page != d.pageEnd {
			d.page = (d.page + 1) % pages
			return
		}
		d.page = d.pageLow
		if d.column != d.colHigh {
			d.column = (d.column + 1) % columns
			return
		}
		d.column = d.colLow
		d.frames++
	default:
		if d.column != d.colHigh {
			d.column = (d.column + 1) % columns
			return
		}
		d.column = d.colLow
		if d.page != d.pageEnd {
			d.page = (d.page + 1) % pages
			return
		}
		d.page = d.pageLow
		d.frames++
	}
}

// Set refuses: nothing about a display is measured.
func (d *Display) Set(key, _ string) error {
	return fmt.Errorf("%q cannot be set: a display shows what the program writes", key)
}

// State returns what to show.
func (d *Display) State() any {
	s := State{
		On: d.on, ChargePump: d.pump, Contrast: int(d.contrast), Inverse: d.inverse, AllOn: d.allOn, Mode: modes[d.mode], StartLine: d.start,
		Written: d.written, Frames: d.frames, RAM: d.RAM(), Faults: d.Active(),
	}
	for _, v := range d.picture().Pix {
		if v != 0 {
			s.Lit++
		}
	}
	return s
}

// RAM returns the display RAM as the program addresses it: page after page, 128 columns each.
func (d *Display) RAM() []byte {
	d.settle()
	out := make([]byte, 0, pages*columns)
	for page := range pages {
		for column := range columns {
			out = append(out, d.ram[page][d.segment(column)])
		}
	}
	return out
}

// Image returns what is to be seen: 0 is dark, 128 to 255 is lit.
func (d *Display) Image() image.Image { return d.picture() }

func (d *Display) picture() *image.Gray {
	d.settle()
	img := image.NewGray(image.Rect(0, 0, columns, d.height))
	if !d.on || !d.pump && !d.external || d.Has("dark") {
		return img
	}
	lit := 128 + d.contrast/2
	for y := range d.height {
		row, scanned := d.scanned(y)
		if !scanned {
			continue
		}
		line := img.Pix[y*img.Stride:]
		for x := range columns {
			// The glass has segment 127 on its left.
			dot := d.ram[row/8][columns-1-x]>>(row%8)&1 == 1
			if d.allOn || dot != d.inverse {
				line[x] = lit
			}
		}
	}
	return img
}

// scanned returns the row of the RAM that the row y of the glass shows, and whether any is.
func (d *Display) scanned(y int) (row int, ok bool) {
	line := d.height - 1 - y // the glass has output 0 at the bottom
	pad := line
	if d.height == rows { // its rows are wired to both sides of the chip in turns
		pad = line/2 + line%2*32
	}
	if d.exchange {
		pad ^= 32
	}
	com := pad
	if d.alternative {
		com = pad%32*2 + pad/32
	}
	if d.comRemap {
		com = d.mux - 1 - com
	}
	row = (com + d.offset + rows) % rows
	if row >= d.mux {
		return 0, false
	}
	return d.scroll.shifted((row + d.start) % rows), true
}

// frame is how long the controller takes to show all rows once: section 8.3.
func (d *Display) frame() time.Duration {
	// Typical frequency of the oscillator at the setting of reset, 1000b, is 370 kHz (table 12-1); a step is taken as 25 kHz, since the
	// data sheet says only that it grows.
	hz := 370_000 + (int(d.clock>>4)-8)*25_000
	clocks := int(d.clock&15+1) * (int(d.precharge&15) + int(d.precharge>>4) + 50) * d.mux
	return time.Duration(clocks) * time.Second / time.Duration(hz)
}
