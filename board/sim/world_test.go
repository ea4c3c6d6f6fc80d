package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

func TestAgenda(t *testing.T) {
	inBubble(t, func(r rig) {
		var got []string
		u := r.b.units[0]
		began := time.Now()
		note := func(what string) func() {
			return func() { got = append(got, what+" "+u.Now().Sub(began).String()) }
		}
		if err := r.b.enter(); err != nil {
			t.Fatal(err)
		}
		u.At(began.Add(2*time.Second), note("c"))
		u.At(began.Add(time.Second), func() {
			note("a")()
			u.At(u.Now().Add(500*time.Millisecond), note("b")) // by the time it was due, not by when it was noticed
			u.At(began, note("past"))
		})
		u.At(began.Add(2*time.Second), note("d"))
		stop := u.At(began.Add(time.Second), note("never"))
		stop()
		stop()
		r.b.leave()
		pass(10 * time.Second)
		synctest.Wait()
		r.get("LED")
		r.same("events", got, []string{"a 1s", "past 1s", "b 1.5s", "c 2s", "d 2s"})
		r.same("kept", u.pending, 0)
	})
}

func TestAgendaIsBounded(t *testing.T) {
	inBubble(t, func(r rig) {
		u, ran := r.b.units[0], 0
		if err := r.b.enter(); err != nil {
			t.Fatal(err)
		}
		for range 10_000 {
			u.At(time.Now().Add(time.Second), func() { ran++ })
		}
		r.b.leave()
		pass(2 * time.Second)
		r.get("LED")
		r.same("events that came", ran, 256)
	})
}

// A watched line reports what a device does while nobody calls, when it is due.
func TestEdgesComeByThemselves(t *testing.T) {
	inBubble(t, func(r rig) {
		var late []time.Duration
		cancel, err := r.b.Watch(r.pin("FLOW"), hw.EdgeFalling, func(_ bool, at time.Time) { late = append(late, time.Since(at)) })
		if err != nil {
			t.Fatal(err)
		}
		defer cancel()
		r.sim("set", "FLOW", "30")
		pass(time.Second)
		synctest.Wait()
		r.b.mu.Lock()
		defer r.b.mu.Unlock()
		if n := len(late); n < 224 || n > 226 || slices.Max(late) != 0 {
			t.Errorf("edges in a second: got %d, the latest late by %v; want 225 and 0", n, slices.Max(late))
		}
	})
}

// The same calls at the same times give the same run.
func TestDeterminism(t *testing.T) {
	script := func(seed uint64) string {
		var mu sync.Mutex // edges are told by the bench's timer as well
		var log strings.Builder
		note := func(what ...any) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(&log, what...)
		}
		synctest.Test(t, func(t *testing.T) {
			d, b := bench(t, Options{Seed: seed})
			defer b.Close()
			began := time.Now()
			for _, name := range []string{"BUTTON", "FLOW", "ENC_A", "ECHO", "PIR"} {
				cancel, err := b.Watch(pin(t, d, name), hw.EdgeRising|hw.EdgeFalling, func(rose bool, at time.Time) {
					note(name, rose, at.Sub(began))
				})
				if err != nil {
					t.Fatal(err)
				}
				defer cancel()
			}
			scenario := "- {at: 0s, do: set BUTTON bounce=10}\n- {at: 100ms, do: press BUTTON}\n- {at: 150ms, do: set FLOW 7}\n" +
				"- {at: 200ms, do: \"wave POT_ADC noise:0,4095\"}\n- {at: 300ms, do: set ENCODER 2}\n- {at: 400ms, do: release BUTTON}\n"
			if _, err := b.Sim("scenario", "", scenario); err != nil {
				t.Fatal(err)
			}
			for range 20 {
				pass(37 * time.Millisecond)
				raw, _, err := b.ReadADC(pin(t, d, "POT_ADC"))
				note(raw, err)
			}
			note(asJSON(t, must(t, b, "ls")))
		})
		return log.String()
	}
	first, again, other := script(3), script(3), script(4)
	if first != again {
		t.Errorf("same seed: got\n%s\nand\n%s", first, again)
	}
	if first == other {
		t.Error("another seed: got the same run")
	}
}

func TestScenario(t *testing.T) {
	inBubble(t, func(r rig) {
		list := r.edges("BUTTON")
		text := "- {at: 500ms, do: press BUTTON}\n- {at: 750ms, do: release BUTTON}\n- at: 750ms\n  do: set TEMP_ADC 9999\n- {at: 1h, do: set PIR 1}\n"
		if _, err := r.b.Sim("scenario", "rain", text); err != nil {
			t.Fatal(err)
		}
		progress := func() string {
			all := must(t, r.b, "ls").([]Entry)
			return asJSON(t, all[len(all)-1].State)
		}
		r.same("at the start", progress(), `{"name":"rain","steps":4,"done":0,"running":true,"next":"press BUTTON","at":"500ms"}`)
		pass(2 * time.Second)
		r.same("later", progress(), `{"name":"rain","steps":4,"done":3,"running":true,"next":"set PIR 1","at":"1h0m0s",`+
			`"failed":["line 3: sim set TEMP_ADC: \"9999\" is neither raw counts from 0 to 4095 nor a voltage such as 1.5V"]}`)
		r.same("edges", list(), []string{"fall 500ms", "rise 750ms"})
		if _, err := r.b.Sim("scenario", "", "off"); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Hour)
		r.same("motion after it was ended", r.get("PIR"), 0)
		for text, want := range map[string]string{
			"- {at: 0s, do: press NOTHING}": "line 1",
			"- {at: 0s, do: reset}":         "line 1",
			"x":                             "list of steps",
		} {
			if _, err := r.b.Sim("scenario", "", text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v want %q", text, err, want)
			}
		}
	})
}

func TestBoardFaults(t *testing.T) {
	inBubble(t, func(r rig) {
		fault := func(kind string) {
			t.Helper()
			if _, err := r.b.Sim("fault", "board", kind); err != nil {
				t.Fatal(err)
			}
		}
		r.out("TRIG", 0)
		r.set("TRIG", 1)
		pass(20 * time.Microsecond)
		r.set("TRIG", 0)
		fault("brownout")
		pass(time.Second)
		r.same("a measurement is forgotten", asJSON(t, r.state("HCSR04")), `{"distance":100,"pings":0,"ignored":0}`)

		if _, err := r.b.DHT(r.t.Context(), r.pin("DHT22")); err != nil {
			t.Fatal(err)
		}
		r.sim("set", "DHT22", "temperature=30")
		fault("clock:2s")
		frame, err := r.b.DHT(r.t.Context(), r.pin("DHT22"))
		r.same("a sensor whose clock jumped measures again", frame[2:4], []byte{0x01, 0x2C})
		r.same("error", err, nil)
		list := r.edges("FLOW")
		r.sim("set", "FLOW", "30")
		fault("clock:-1h")
		pass(10 * time.Millisecond)
		r.same("the host's times do not jump", list(), []string{"fall 2.222222ms", "rise 4.444444ms", "fall 6.666666ms", "rise 8.888888ms"})
		fault("off")
		r.same("skew after off", r.b.skew, time.Duration(0))
		for _, bad := range []string{"", "fire", "clock:", "clock:soon", "clock:2000000h"} {
			if _, err := r.b.Sim("fault", "board", bad); err == nil {
				t.Errorf("fault board %q: got no error", bad)
			}
		}
	})
}

func TestFaultsRefused(t *testing.T) {
	_, b := opened(t, "bench-sim")
	for _, tt := range [][3]string{
		{"SDA_1", "nack", "no device"}, {"LED", "nack", "devices on I2C"}, {"DHT22", "held", "devices on I2C"}, {"AHT20", "crc:forever", "no fault"},
		{"LED", "crc", "no fault of this device"}, {"NOPE", "off", "no such thing"}, {"AHT20", "", "no fault"},
	} {
		if _, err := b.Sim("fault", tt[0], tt[1]); err == nil || !strings.Contains(err.Error(), tt[2]) {
			t.Errorf("fault %s %s: got %v want %q", tt[0], tt[1], err, tt[2])
		}
	}
}

func TestResetOfEverything(t *testing.T) {
	inBubble(t, func(r rig) {
		want := asJSON(t, must(t, r.b, "ls"))
		quiet := asJSON(t, []any{r.state("BUTTON"), r.state("FLOW"), r.state("ENCODER")})
		for _, s := range [][3]string{
			{"set", "HCSR04", "7"}, {"fault", "AHT20", "held:forever"}, {"fault", "DHT22", "disconnect"}, {"set", "FLOW", "9"}, {"fault", "DS18B20", "crc"},
			{"set", "ENCODER", "5"}, {"set", "BH1750", "17"}, {"stuck", "MISO", "1"}, {"set", "PIR", "1"}, {"wave", "POT_ADC", "ramp:0,4095,1s"},
		} {
			r.sim(s[0], s[1], s[2])
		}
		if _, err := r.b.Sim("scenario", "", "- {at: 1s, do: press BUTTON}"); err != nil {
			t.Fatal(err)
		}
		pass(500 * time.Millisecond)
		r.same("reset", asJSON(t, must(t, r.b, "reset")), want)
		pass(time.Minute)
		r.same("a minute later", asJSON(t, []any{r.state("BUTTON"), r.state("FLOW"), r.state("ENCODER")}), quiet)
	})
}

func TestNetwork(t *testing.T) {
	_, b := opened(t, "bench-sim")
	for what, want := range map[string]string{"status": `"connected":true`, "scan": `[["pal-bench","02005e100001",6,-48,3,false],`} {
		if got, err := b.Network(what); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: got %s, %v want %s", what, got, err, want)
		}
	}
	if _, err := b.Network("join"); err == nil {
		t.Error("join: got no error")
	}
}

// Everything at once, for the race detector; and closing while events are due.
func TestHammer(t *testing.T) {
	d, b := opened(t, "bench-sim")
	for i := range d.Buses {
		if err := b.OpenBus(i, board.BusSettings{Hz: 400_000, Bits: 8, Parity: -1, Stop: 1}); err != nil {
			t.Fatal(err)
		}
	}
	cancel, err := b.Watch(pin(t, d, "FLOW"), hw.EdgeRising, func(bool, time.Time) {})
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	must := func(err error) {
		if err != nil && !errors.Is(err, errClosed) && !errors.Is(err, board.ErrNoDevice) && !errors.Is(err, board.ErrHeld) {
			t.Error(err)
		}
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 100 {
				_, err := b.Sim("set", "FLOW", fmt.Sprint(1+(g+i)%29))
				must(err)
				_, err = b.I2C(t.Context(), 0, 0x23, 0, []byte{0x10}, nil)
				must(err)
				_, err = b.Sim("fault", "AHT20", []string{"held", "off", "disconnect"}[i%3])
				must(err)
				must(b.Recover(0))
				_, err = b.Sim("ls", "", "")
				must(err)
				_, err = b.OneWire(t.Context(), pin(t, d, "DS18B20"), hw.OneWireReset, nil, nil, 0)
				must(err)
				if g == 3 && i == 90 {
					must(b.Close())
				}
			}
		})
	}
	wg.Wait()
}
