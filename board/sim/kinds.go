package sim

import (
	"maps"
	"slices"

	"github.com/pal-terminal/pal/board/sim/adc"
	"github.com/pal-terminal/pal/board/sim/aht20"
	"github.com/pal-terminal/pal/board/sim/at24c32"
	"github.com/pal-terminal/pal/board/sim/bh1750"
	"github.com/pal-terminal/pal/board/sim/bmp280"
	"github.com/pal-terminal/pal/board/sim/button"
	"github.com/pal-terminal/pal/board/sim/buzzer"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/dht22"
	"github.com/pal-terminal/pal/board/sim/ds18b20"
	"github.com/pal-terminal/pal/board/sim/ds3231"
	"github.com/pal-terminal/pal/board/sim/encoder"
	"github.com/pal-terminal/pal/board/sim/flow"
	"github.com/pal-terminal/pal/board/sim/gps"
	"github.com/pal-terminal/pal/board/sim/hcsr04"
	"github.com/pal-terminal/pal/board/sim/led"
	"github.com/pal-terminal/pal/board/sim/loopback"
	"github.com/pal-terminal/pal/board/sim/mhz19"
	"github.com/pal-terminal/pal/board/sim/modbus"
	"github.com/pal-terminal/pal/board/sim/mpu6050"
	"github.com/pal-terminal/pal/board/sim/pcf8574"
	"github.com/pal-terminal/pal/board/sim/pir"
	"github.com/pal-terminal/pal/board/sim/relay"
	"github.com/pal-terminal/pal/board/sim/servo"
	"github.com/pal-terminal/pal/board/sim/sgp30"
	"github.com/pal-terminal/pal/board/sim/ssd1306"
	"github.com/pal-terminal/pal/board/sim/stepper"
	"github.com/pal-terminal/pal/board/sim/tmp16"
	"github.com/pal-terminal/pal/board/sim/w25q64"
	"github.com/pal-terminal/pal/board/sim/ws2812"
)

// kind is a type of device.
type kind struct {
	make   device.New
	on     string   // kind of bus, "" for none
	roles  []string // of its lines
	maybe  []string // of lines that need not be connected
	value  bool     // takes "value" in a board file
	shared bool     // several hang on one line
	plain  bool     // has no quantity of its own: "set NAME LEVEL" is about its line
}

var one = []string{""}

// kinds holds every type that a board file may name.
var kinds = map[string]kind{
	"aht20":    {make: aht20.New, on: "i2c"},
	"at24c32":  {make: at24c32.New, on: "i2c"},
	"bmp280":   {make: bmp280.New, on: "i2c"},
	"ds3231":   {make: ds3231.New, on: "i2c", maybe: []string{"int"}},
	"mpu6050":  {make: mpu6050.New, on: "i2c", maybe: []string{"int"}},
	"tmp16":    {make: tmp16.New, on: "i2c", maybe: []string{"alert"}, value: true},
	"pcf8574":  {make: pcf8574.New, on: "i2c", maybe: []string{"int"}},
	"sgp30":    {make: sgp30.New, on: "i2c"},
	"bh1750":   {make: bh1750.New, on: "i2c", value: true},
	"ssd1306":  {make: ssd1306.New, on: "i2c"},
	"w25q64":   {make: w25q64.New, on: "spi", roles: []string{"cs"}},
	"gps":      {make: gps.New, on: "uart"},
	"mhz19":    {make: mhz19.New, on: "uart", value: true},
	"loopback": {make: loopback.New, on: "uart"},
	"modbus":   {make: modbus.New, on: "uart"},
	"adc":      {make: adc.New, roles: one, value: true},
	"button":   {make: button.New, roles: one, plain: true},
	"buzzer":   {make: buzzer.New, roles: one, plain: true},
	"dht22":    {make: dht22.New, roles: one},
	"ds18b20":  {make: ds18b20.New, roles: one, shared: true},
	"encoder":  {make: encoder.New, roles: []string{"a", "b"}},
	"flow":     {make: flow.New, roles: one},
	"hcsr04":   {make: hcsr04.New, roles: []string{"trig", "echo"}},
	"led":      {make: led.New, roles: one, plain: true},
	"pir":      {make: pir.New, roles: one},
	"relay":    {make: relay.New, roles: one, plain: true},
	"servo":    {make: servo.New, roles: one, plain: true},
	"stepper":  {make: stepper.New, roles: []string{"in1", "in2", "in3", "in4"}},
	"ws2812":   {make: ws2812.New, roles: one, plain: true},
}

func kindNames() []string { return slices.Sorted(maps.Keys(kinds)) }
