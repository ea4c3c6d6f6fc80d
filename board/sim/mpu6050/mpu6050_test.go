package mpu6050_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/mpu6050"
)

var spec = devicetest.Spec{
	New:     mpu6050.New,
	Options: device.Options{Lines: []string{"int"}},
	Good: map[string][]string{
		"ax": {"-2", "0.5"}, "ay": {"1"}, "az": {"-1"}, "gx": {"250"}, "gy": {"-2000"}, "gz": {"0"}, "temperature": {"-40", "36.53", "125"},
	},
	Bad:    map[string][]string{"ax": {"101"}, "gx": {"-10001"}, "temperature": {"-41", "126"}},
	Faults: []string{"stale", "saturated", "clone"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

// 1 g is 16,384 = 0x4000 counts at ±2 g; 25 °C is (25 − 36.53) · 340 = −3,920.2, 0xF0B0; 100 °/s is 13,100 = 0x332C at ±250 °/s.
func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"identity, asleep", "wr 75 : 68 \n wr 6B : 40 00"},
		{"asleep the data hold", "wait 1s \n wr 3B : 00 00 00 00 00 00 00 00"},
		{"awake: one burst", `
			set gx 100
			w 6B 00
			wr 3B : 00 00 00 00 40 00 F0 B0 33 2C 00 00 00 00`},
		{"scales of acceleration", `
			w 6B 00
			w 1C 08
			wait 1ms
			wr 3F : 20 00
			w 1C 10
			wait 1ms
			wr 3F : 10 00
			w 1C 18
			wait 1ms
			wr 3F : 08 00
			wr 1C : 18`},
		{"scales of rotation", `
			set gy -100
			w 6B 00
			wr 45 : CC D4           # -13,100
			w 1B 08
			wait 1ms
			wr 45 : E6 6A           # -6,550
			w 1B 10
			wait 1ms
			wr 45 : F3 30           # -3,280
			w 1B 18
			wait 1ms
			wr 45 : F9 98           # -1,640`},
		{"the ends of the scale", `
			set ax 3
			set ay -3
			w 6B 00
			wr 3B : 7F FF 80 00`},
		{"36.53 °C is 0", "set temperature 36.53 \n w 6B 00 \n wr 41 : 00 00"},
		{"a sample each 1 + divider milliseconds with the filter", `
			w 19 09 03              # 10 ms, filter 3
			w 6B 00
			set az 0.5
			wait 9999us
			wr 3F : 40 00
			wait 1us
			wr 3F : 20 00`},
		{"8 kHz without the filter", `
			w 6B 00
			set az 0.5
			wait 124us
			wr 3F : 40 00
			wait 1us
			wr 3F : 20 00`},
		{"new data show once", `
			w 19 09 03
			w 6B 00
			wr 3A : 01
			wr 3A : 00
			wait 10ms
			wr 3A : 01`},
		{"asleep again", "w 6B 00 \n w 6B 40 \n set az 0 \n wait 1s \n wr 3F : 40 00"},
		{"axes in standby, temperature off", `
			w 6C 08
			w 6B 08
			set gx 1
			wait 1s
			wr 3B : 00 00 00 00 00 00 00 00 00 83`},
		{"registers that can be read only", "w 75 00 \n w 3B 12 34 \n wr 75 : 68 \n wr 3B : 00 00"},
		{"writes go up", "w 19 01 02 03 04 \n wr 19 : 01 02 03 04"},
		{"device reset", "w 19 07 \n w 6B 00 \n w 6B 80 \n wr 6B : 40 \n wr 19 : 00"},
		{"power-up", "w 6B 00 \n wait 1s \n reset \n wr 6B : 40 \n wr 3B : 00 00 00 00 00 00"},
		{"stale", "w 6B 00 \n fault stale \n set az 0 \n wait 1s \n wr 3F : 40 00"},
		{"saturated", "fault saturated \n w 6B 00 \n wr 3B : 7F FF 7F FF 7F FF F0 B0 7F FF"},
		{"clone", "fault clone \n wr 75 : 98"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := mpu6050.New(w, device.Options{Addr: 0x69})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

// 0x37 is INT_PIN_CFG, 0x38 INT_ENABLE; 0x19 and 0x1A make it a sample each 10 ms.
func TestINT(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"low by itself, and of samples that it is not to tell of", "line 0 0 \n w 19 09 03 \n w 6B 00 \n line 0 0 \n wait 10ms \n line 0 0"},
		{"a pulse for each sample", `
			w 19 09 03
			w 38 01
			wait 1s
			line 0 0                # asleep there are none
			w 6B 00
			line 0 1                # the sample of waking up
			wait 49us
			line 0 1
			wait 1us
			line 0 0
			wait 9949us
			line 0 0
			wait 1us
			line 0 1
			wait 50us
			line 0 0
			wr 3A : 01
			wait 9950us
			line 0 1`},
		{"active low", "w 19 09 03 \n w 37 80 01 \n line 0 1 \n w 6B 00 \n line 0 0 \n wait 50us \n line 0 1"},
		{"active low, open drain", "w 19 09 03 \n w 37 C0 01 \n line 0 - \n w 6B 00 \n line 0 0 \n wait 50us \n line 0 -"},
		{"latched until the status is read", `
			w 19 09 03
			w 37 20 01
			w 6B 00
			line 0 1
			wr 3B : 00 00
			wait 1s
			line 0 1
			wr 3A : 01
			line 0 0
			wait 9999us
			line 0 0
			wait 1us
			line 0 1`},
		{"latched until anything is read", "w 19 09 03 \n w 37 30 01 \n w 6B 00 \n line 0 1 \n wr 3B : 00 00 \n line 0 0 \n wait 10ms \n line 0 1"},
		{"the rate changes on the way", "w 19 63 03 \n w 37 00 01 \n w 6B 00 \n wait 5ms \n w 19 07 \n wait 2999us \n line 0 0 \n wait 1us \n line 0 1"},
		{"not any more", "w 19 09 03 \n w 37 00 01 \n w 6B 00 \n line 0 1 \n w 38 00 \n line 0 0 \n wait 10ms \n line 0 0"},
		{"asleep", "w 19 09 03 \n w 37 00 01 \n w 6B 00 \n wait 1ms \n w 6B 40 \n wait 1s \n line 0 0 \n w 6B 00 \n line 0 1"},
		{"device reset", "w 19 09 03 \n w 37 A0 01 \n w 6B 00 \n line 0 0 \n w 6B 80 \n line 0 0 \n wait 1s \n line 0 0 \n wr 37 : 00 00"},
		{"power-up", "w 19 09 03 \n w 37 20 01 \n w 6B 00 \n line 0 1 \n reset \n line 0 0 \n wait 1s \n line 0 0"},
		{"stale data are new to it", "w 19 09 03 \n w 37 20 01 \n fault stale \n w 6B 00 \n line 0 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := mpu6050.New(w, device.Options{Addr: -1, Lines: []string{"int"}})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

func TestState(t *testing.T) {
	w := devicetest.NewWorld()
	d, err := mpu6050.New(w, device.Options{Addr: -1, Values: map[string]string{"ax": "0.25", "gz": "-3"}})
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Run(t, w, d, "w 1B 18 18")
	s := d.State().(mpu6050.State)
	if s.Acceleration != [3]float64{0.25, 0, 1} || s.Rotation != [3]float64{0, 0, -3} || !s.Asleep || s.AccelRange != 16 || s.GyroRange != 2000 {
		t.Errorf("got %+v", s)
	}
}
