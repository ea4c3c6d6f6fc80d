// Package gps simulates a receiver that speaks NMEA 0183 (version 2.3) at 9,600 bits a second, as modules with a u-blox NEO-6M do.
//
// # Model
//
// At each full second of the bench's clock, which is its UTC, it begins to send RMC, GGA and GSV, each with the checksum after "*", the
// exclusive or of what is between "$" and "*"; a sentence arrives when its last character has. Coordinates are degrees and minutes with
// five decimals. Without a fix the fields of position are empty, RMC says V and GGA quality 0. A fix comes 27 s after a power-up (NEO-6
// data sheet, cold start); the first power-up of all is taken to be long ago, unless the value cold is on. Satellites are invented from
// their number: the sky of a simulated bench has no orbits.
//
// # What it refuses
//
// It ignores what it is sent. Not modelled: UBX and configuration, other rates, the pulse per second, dilution that follows the
// satellites.
package gps

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/serial"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	rate      = 9600
	coldStart = 27 * time.Second
)

// quantity is something that can be set.
type quantity struct {
	name   string
	lo, hi float64
}

const (
	lat = iota
	lon
	altitude
	speed
	course
	satellites
)

var quantities = [...]quantity{
	lat:        {"lat", -90, 90},
	lon:        {"lon", -180, 180},
	altitude:   {"altitude", -500, 20_000},
	speed:      {"speed", 0, 1000},
	course:     {"course", 0, 360},
	satellites: {"satellites", 0, 16},
}

// Receiver is the device. It implements device.UART.
type Receiver struct {
	setting.Faults
	port    serial.Port
	at      [len(quantities)]float64
	fix     bool // the sky can be seen
	cold    bool
	powered bool
	since   time.Time // power-up
	frozen  time.Time // time of the last report, which a stale receiver repeats
	held    [len(quantities)]float64
	stop    []func() // of what is still to be sent
	reports uint64
}

// State is what `pal sim show` prints.
type State struct {
	Lat        float64  `json:"lat"` // degrees, north and east positive
	Lon        float64  `json:"lon"`
	Altitude   float64  `json:"altitude"` // m
	Speed      float64  `json:"speed"`    // knots
	Course     float64  `json:"course"`   // degrees
	Satellites int      `json:"satellites"`
	Fix        bool     `json:"fix"`
	Reports    uint64   `json:"reports"`
	Faults     []string `json:"faults,omitempty"`
}

// New builds a receiver at the observatory of Greenwich. Value: cold on or off. Settings: lat, lon (degrees), altitude (m), speed
// (knots), course (degrees), satellites (0 to 16), fix (on, off). Faults: crc (wrong checksums), nofix, stale (the same report again and
// again), mute.
func New(w device.World, o device.Options) (device.Device, error) {
	r := &Receiver{
		Faults: setting.NewFaults("crc", "nofix", "stale", "mute"), port: serial.Port{W: w, Rate: rate}, fix: true,
		at: [len(quantities)]float64{lat: 51.4778, lon: -0.0014, altitude: 46, satellites: 8},
	}
	if v, ok := o.Values["cold"]; ok {
		var err error
		if r.powered, err = setting.Bool("cold", v); err != nil {
			return nil, err
		}
	}
	if err := setting.Apply(r, o.Values, "cold"); err != nil {
		return nil, err
	}
	return r, nil
}

// Reset is a power-up. It starts the reports.
func (r *Receiver) Reset() {
	r.cold, r.powered, r.since = r.powered, true, r.port.W.Now()
	r.frozen = time.Time{}
	r.next()
}

// next asks for the report of the next full second, and forgets what is still to be sent.
func (r *Receiver) next() {
	for _, stop := range r.stop {
		stop()
	}
	second := r.port.W.Now().Truncate(time.Second).Add(time.Second)
	r.stop = append(r.stop[:0], r.port.W.At(second, r.report))
}

// report sends the sentences of a second.
func (r *Receiver) report() {
	r.next()
	if !r.Has("stale") || r.frozen.IsZero() {
		r.frozen, r.held = r.port.W.Now().UTC(), r.at
	}
	if r.Has("mute") {
		return
	}
	r.reports++
	pause := time.Duration(0)
	for _, body := range r.sentences() {
		line := r.frame(body)
		r.stop = append(r.stop, r.port.SendAfter(pause, line))
		pause += r.port.Characters(float64(len(line)))
	}
}

func (r *Receiver) fixed() bool {
	warm := !r.cold || r.port.W.Now().Sub(r.since) >= coldStart
	return r.fix && warm && r.at[satellites] >= 3 && !r.Has("nofix")
}

// frame puts a sentence between its dollar sign and its checksum.
func (r *Receiver) frame(body string) []byte {
	var sum byte
	for i := range len(body) {
		sum ^= body[i]
	}
	if r.Has("crc") {
		sum ^= 0x55
	}
	return fmt.Appendf(nil, "$%s*%02X\r\n", body, sum)
}

func (r *Receiver) sentences() []string {
	clock, date := r.frozen.Format("150405.00"), r.frozen.Format("020106")
	n := int(r.held[satellites])
	position := degrees(r.held[lat], 2, "N", "S") + "," + degrees(r.held[lon], 3, "E", "W")
	var all []string
	if r.fixed() {
		all = []string{
			fmt.Sprintf("GPRMC,%s,A,%s,%.3f,%.2f,%s,,,A", clock, position, r.held[speed], r.held[course], date),
			fmt.Sprintf("GPGGA,%s,%s,1,%02d,1.01,%.1f,M,0.0,M,,", clock, position, n, r.held[altitude]),
		}
	} else {
		all = []string{
			fmt.Sprintf("GPRMC,%s,V,,,,,,,%s,,,N", clock, date),
			fmt.Sprintf("GPGGA,%s,,,,,0,%02d,99.99,,,,,,", clock, 0),
		}
	}
	return append(all, view(n)...)
}

// degrees writes an angle as degrees of so many digits, minutes and hemisphere. It rounds as a whole, so that minutes never read 60.
func degrees(v float64, digits int, positive, negative string) string {
	side := positive
	if v < 0 {
		side = negative
	}
	units := int64(math.Round(math.Abs(v) * 60 * 100_000)) // of 1/100,000 minute
	whole, rest := units/6_000_000, units%6_000_000
	return fmt.Sprintf("%0*d%02d.%05d,%s", digits, whole, rest/100_000, rest%100_000, side)
}

// view writes the satellites in view, four a sentence.
func view(n int) []string {
	total := max((n+3)/4, 1)
	all := make([]string, 0, total)
	for i := range total {
		var b strings.Builder
		fmt.Fprintf(&b, "GPGSV,%d,%d,%02d", total, i+1, n)
		for k := 4 * i; k < min(4*i+4, n); k++ {
			fmt.Fprintf(&b, ",%02d,%02d,%03d,%02d", 2*k+1, 15+(k*17)%70, (k*47)%360, 25+(k*5)%20)
		}
		all = append(all, b.String())
	}
	return all
}

// Receive ignores what the board sends.
func (r *Receiver) Receive([]byte) {}

// Set changes where the receiver is and what it sees.
func (r *Receiver) Set(key, value string) error {
	if key == "fix" {
		v, err := setting.Bool(key, value)
		if err == nil {
			r.fix = v
		}
		return err
	}
	names := []string{"fix"}
	for i, q := range quantities {
		if names = append(names, q.name); q.name != key {
			continue
		}
		v, err := setting.Float(key, value, q.lo, q.hi)
		if err == nil {
			if i == satellites {
				v = math.Trunc(v)
			}
			r.at[i] = v
		}
		return err
	}
	return setting.Unknown(key, names...)
}

// State returns what to show.
func (r *Receiver) State() any {
	return State{
		Lat: r.at[lat], Lon: r.at[lon], Altitude: r.at[altitude], Speed: r.at[speed], Course: r.at[course], Satellites: int(r.at[satellites]),
		Fix: r.fixed(), Reports: r.reports, Faults: r.Active(),
	}
}
