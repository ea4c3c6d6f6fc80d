package gps_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/gps"
)

var spec = devicetest.Spec{
	New: gps.New,
	Good: map[string][]string{
		"lat": {"-90", "51.5", "90"}, "lon": {"-180", "180"}, "altitude": {"-4.5"}, "speed": {"12.5"}, "course": {"0", "360"}, "satellites": {"0", "16"}, "fix": {"off", "on"},
	},
	Bad:    map[string][]string{"lat": {"90.1"}, "lon": {"-181"}, "speed": {"-1"}, "course": {"361"}, "satellites": {"17"}, "fix": {"maybe"}},
	Faults: []string{"crc", "nofix", "stale", "mute"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

func build(t *testing.T, values map[string]string) (device.Device, *devicetest.World) {
	t.Helper()
	w := devicetest.NewWorld()
	d, err := gps.New(w, device.Options{Addr: -1, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	d.Reset()
	return d, w
}

// after returns what has come by a time after the last full second.
func after(w *devicetest.World, d time.Duration) []string {
	w.Advance(d)
	return strings.Split(strings.TrimSuffix(string(w.Sent()), "\r\n"), "\r\n")
}

// Sentences and checksums were written apart from the code. The clock starts on 15 January 2026 at noon.
func TestReports(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values map[string]string
		fault  string
		want   []string // the first sentences
		all    int
	}{
		{"at home", nil, "off", []string{
			"$GPRMC,120001.00,A,5128.66800,N,00000.08400,W,0.000,0.00,150126,,,A*75",
			"$GPGGA,120001.00,5128.66800,N,00000.08400,W,1,08,1.01,46.0,M,0.0,M,,*4C",
		}, 4},
		{"south and east, three satellites", map[string]string{"lat": "-33.8568", "lon": "151.2153", "altitude": "-4.5", "speed": "12.5", "course": "270.25", "satellites": "3"}, "off", []string{
			"$GPRMC,120001.00,A,3351.40800,S,15112.91800,E,12.500,270.25,150126,,,A*4A",
			"$GPGGA,120001.00,3351.40800,S,15112.91800,E,1,03,1.01,-4.5,M,0.0,M,,*52",
			"$GPGSV,1,1,03,01,15,000,25,03,32,047,30,05,49,094,35*49",
		}, 3},
		{"no satellites", map[string]string{"satellites": "0"}, "off", []string{
			"$GPRMC,120001.00,V,,,,,,,150126,,,N*7E",
			"$GPGGA,120001.00,,,,,0,00,99.99,,,,,,*64",
			"$GPGSV,1,1,00*79",
		}, 3},
		{"sky hidden", map[string]string{"fix": "off"}, "off", []string{"$GPRMC,120001.00,V,,,,,,,150126,,,N*7E"}, 4},
		{"fault nofix", nil, "nofix", []string{"$GPRMC,120001.00,V,,,,,,,150126,,,N*7E"}, 4},
		{"cold", map[string]string{"cold": "on"}, "off", []string{"$GPRMC,120001.00,V,,,,,,,150126,,,N*7E"}, 4},
		{"wrong checksums", nil, "crc", []string{"$GPRMC,120001.00,A,5128.66800,N,00000.08400,W,0.000,0.00,150126,,,A*20"}, 4},
		{"minutes never read 60", map[string]string{"lat": "0.999999999", "lon": "-0.999999999"}, "off", []string{
			"$GPRMC,120001.00,A,0100.00000,N,00100.00000,W,0.000,0.00,150126,,,A*7F",
		}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, w := build(t, tt.values)
			if err := d.Fault(tt.fault); err != nil {
				t.Fatal(err)
			}
			got := after(w, 1900*time.Millisecond)
			if len(got) != tt.all {
				t.Errorf("got %d sentences, want %d: %q", len(got), tt.all, got)
			}
			if diff := cmp.Diff(tt.want, got[:min(len(tt.want), len(got))]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// RMC has 72 characters with its end, 75 ms; until then nothing of it has come.
func TestTimes(t *testing.T) {
	_, w := build(t, nil)
	w.Advance(1074 * time.Millisecond)
	if got := w.Sent(); len(got) != 0 {
		t.Errorf("after 74 ms: got %q, want nothing", got)
	}
	if got := after(w, time.Millisecond); len(got) != 1 || !strings.HasPrefix(got[0], "$GPRMC") {
		t.Errorf("after 75 ms: got %q, want RMC", got)
	}
	if got := after(w, 10*time.Second); len(got) != 3+9*4+1 {
		t.Errorf("ten seconds later: got %d sentences, want %d", len(got), 3+9*4+1)
	}
}

func TestColdStart(t *testing.T) {
	d, w := build(t, nil)
	d.Reset() // the second power-up
	for _, tt := range []struct {
		wait time.Duration
		want bool
	}{{0, false}, {26900 * time.Millisecond, false}, {100 * time.Millisecond, true}} {
		w.Advance(tt.wait)
		if got := d.State().(gps.State).Fix; got != tt.want {
			t.Errorf("after %v more: got fix %v, want %v", tt.wait, got, tt.want)
		}
	}
}

func TestStale(t *testing.T) {
	d, w := build(t, nil)
	first := after(w, 1900*time.Millisecond)
	devicetest.Run(t, w, d, "fault stale \n set lat 10")
	if diff := cmp.Diff(first, after(w, time.Second)); diff != "" {
		t.Errorf("the second report (-first +got):\n%s", diff)
	}
	devicetest.Run(t, w, d, "fault mute \n wait 3s \n got")
}

func TestRates(t *testing.T) {
	_, w := build(t, nil)
	w.BaudRate = 0
	w.Advance(5 * time.Second)
	if got := w.Sent(); len(got) != 0 {
		t.Errorf("closed: got %q, want nothing", got)
	}
	w.BaudRate = 115_200
	w.Advance(5 * time.Second)
	if got := string(w.Sent()); len(got) < 1000 || strings.Contains(got, "$GPRMC") {
		t.Errorf("another rate: got %d bytes %q…, want as much noise as there are characters", len(got), got[:min(40, len(got))])
	}
}
