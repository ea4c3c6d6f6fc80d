// Package simview is what people see of the simulated bench: the verbs of `pal sim`, its lists and its pictures. It knows the form of the
// bench's answers and asks nothing of anybody.
package simview

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// Verb is one thing that can be done to the simulated world.
type Verb struct {
	Use, Short, Example string
	Name, Value         bool // takes a device, and a value
	Output              bool // writes to a file
}

// Args is how many arguments the verb takes.
func (v Verb) Args() int {
	n := 0
	if v.Name {
		n++
	}
	if v.Value {
		n++
	}
	return n
}

// Verbs are the commands below pal sim.
var Verbs = []Verb{
	{Use: "ls", Short: "list the simulated devices", Example: "  pal sim ls"},
	{Use: "show NAME", Short: "show one device", Example: "  pal sim show LED", Name: true},
	{Use: "set NAME [KEY=]VALUE", Short: "give an input a level, or a sensor what it measures", Example: "  pal sim set TEMP_ADC 2048\n  pal sim set AHT20 temperature=-3.5", Name: true, Value: true},
	{Use: "press NAME", Short: "press a button and hold it", Example: "  pal sim press BUTTON", Name: true},
	{Use: "release NAME", Short: "let a button go", Example: "  pal sim release BUTTON", Name: true},
	{Use: "wave NAME SPEC", Short: "let an analogue input follow a wave: sine, ramp, triangle, square or noise; off ends it", Example: "  pal sim wave POT_ADC sine:0,4095,2s", Name: true, Value: true},
	{Use: "stuck NAME VALUE", Short: "break a line: it stays at 0 or 1 whatever drives it; off ends it", Example: "  pal sim stuck LED 0", Name: true, Value: true},
	{Use: "fault NAME KIND", Short: "give a device a fault: nack, held, stretch, disconnect, brownout or one of its own; off ends them", Example: "  pal sim fault AHT20 crc\n  pal sim fault board clock:1h", Name: true, Value: true},
	{Use: "text NAME", Short: "what a display or a light strip shows", Example: "  pal sim text SSD1306", Name: true},
	{Use: "image NAME", Short: "what a display or a light strip shows, as PNG", Example: "  pal sim image SSD1306 -o oled.png\n  pal sim image SSD1306 | display", Name: true, Output: true},
	{Use: "load NAME FILE", Short: "fill a memory chip with a file, from its first byte on", Example: "  pal sim load W25Q64 film.bin", Name: true, Value: true},
	{Use: "scenario FILE", Short: "start a scenario: steps with times, from a file; off ends it", Example: "  pal sim scenario rain.yaml\n  pal sim scenario off", Value: true},
	{Use: "reset", Short: "the world as it was at the start", Example: "  pal sim reset"},
}

// loadBytes is how much of a file one load takes: its base64 and an offset are within limits.SimScenarioBytes.
const loadBytes = limits.SimScenarioBytes / 4 * 3 * 15 / 16

// Loads returns the values of the operations that load data into a memory, and after each how much is loaded by then.
func Loads(data []byte) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		off := 0
		for part := range slices.Chunk(data, loadBytes) {
			value := strconv.Itoa(off) + " " + base64.StdEncoding.EncodeToString(part)
			if off += len(part); !yield(value, off) {
				return
			}
		}
	}
}

// Columns are the headings of Rows.
const Columns = "DEVICE TYPE PLACE LEVEL STATE"

// stateShown is how many characters of a state a list has room for; "pal sim show" tells all of it.
const stateShown = 100

// device is what a person is shown of a device in a list. What the state holds is the device's affair.
type device struct {
	Name  string         `json:"name"`
	Type  string         `json:"type"`
	Pin   jsontext.Value `json:"pin"`  // of a device on one line
	Bus   string         `json:"bus"`  // of a device on a bus
	Addr  string         `json:"addr"` // on that
	Level *int           `json:"level"`
	State jsontext.Value `json:"state"`
}

// Rows returns the cells of a list of devices, and false when the answer is no list. tree writes a JSON value for people.
func Rows(answer []byte, tree func(jsontext.Value) string) (rows [][]string, ok bool) {
	var devices []device
	if err := json.Unmarshal(answer, &devices); err != nil {
		return nil, false
	}
	for _, d := range devices {
		lines := strings.ReplaceAll(strings.TrimSuffix(tree(d.State), "\n"), "\n", ", ")
		state := []rune(strings.Join(strings.Fields(lines), " "))
		if len(state) > stateShown {
			state = append(state[:stateShown], '…')
		}
		place, level := strings.TrimSpace(d.Bus+" "+d.Addr), ""
		if len(d.Pin) > 0 {
			place = strings.Trim(string(d.Pin), `"`)
		}
		if d.Level != nil {
			level = strconv.Itoa(*d.Level)
		}
		row := []string{d.Name, d.Type, place, level, string(state)}
		for i, cell := range row {
			if cell == "" {
				row[i] = "-"
			}
		}
		rows = append(rows, row)
	}
	return rows, true
}

// Picture reads the answer of the operations text and image: characters or the bytes of a PNG file.
func Picture(answer []byte) (text string, png []byte, err error) {
	var p struct{ Text, PNG string }
	if err = json.Unmarshal(answer, &p); err == nil {
		png, err = base64.StdEncoding.DecodeString(p.PNG)
	}
	if err != nil {
		return "", nil, fmt.Errorf("read the picture: %w", err)
	}
	return p.Text, png, nil
}
