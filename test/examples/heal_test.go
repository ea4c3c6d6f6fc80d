//go:build unix

package examples

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/terminal"
)

// fault is a program that is wrong, and how the board looks once it does what it should.
type fault struct {
	name, code string
	look       func(a *healer) error
}

// faults are the mistakes that models make most, one each.
var faults = []fault{
	{"system pin", "from machine import Pin\nled = Pin(0, Pin.OUT)\nled.on()\n", anyOn},
	{"misspelt name", "from machine import Pin\nled = Pin('LEDD', Pin.OUT)\nled.on()\n", on("LED")},
	{"input driven", "from machine import Pin\nled = Pin(21, Pin.OUT)\nled.on()\n", anyOn},
	{"missing import", "from machine import Pin\nlevel = struct.unpack('B', b'\\x01')[0]\nPin(5, Pin.OUT).value(level)\n", on("LED")},
	{"misspelt method", "from machine import Pin\nled = Pin(5, Pin.OUT)\nled.togle()\n", on("LED")},
	{"wrong address", "from machine import I2C\ni2c = I2C(0)\ni2c.writeto(0x24, b'\\x01')\ni2c.writeto(0x24, b'\\x10')\nevent_push('done', 0x24)\n", event("done", "35")},
	{"wrong lines", "from machine import I2C, Pin\ni2c = I2C(0, sda=Pin(33), scl=Pin(34))\nevent_push('found', i2c.scan())\n", event("found", `\[.*60.*\]`)},
	{"wrong register", "from machine import I2C\ni2c = I2C(0)\nwho = i2c.readfrom_mem(0x68, 0x57, 1)[0]\nassert who == 0x68, 'want 0x68'\nevent_push('who', who)\n", event("who", "104")},
	{"wrong scale", "from machine import ADC\nadc = ADC(1)\ncelsius = adc.read() * 3.3 / 1023 * 100\nevent_push('TEMP_ADC', celsius)\n", reading("TEMP_ADC")},
	{"interlock", "from machine import Pin\nPin('RELAY_1', Pin.OUT).off()\nr = Pin('RELAY_1', Pin.OUT)\nr.on()\n", on("RELAY_1")},
	{"duty beyond range", "from machine import Pin, PWM\npwm = PWM(Pin(5), freq=1000)\npwm.duty_u16(70000)\n", on("LED")},
	{"syntax", "from machine import Pin\nled = Pin(5, Pin.OUT)\nfor i in range(3)\n    led.toggle()\n", on("LED")},
}

// TestSelfHealing lets a scripted agent repair each program from what its results say, and nothing else, and then look at the
// board.
func TestSelfHealing(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			x := terminal.Start(t, nil)
			c, err := client.Dial(t.Context(), client.Target{URL: x.URL, Token: x.Agent, Name: "healer"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			if f.name == "interlock" {
				if _, err := c.PinSet(t.Context(), "RELAY_2", 1); err != nil {
					t.Fatal(err)
				}
			}
			a := &healer{t: t, c: c, code: f.code}
			a.heal(f.look)
		})
	}
}

// healer is a scripted agent: it knows Python's usual mistakes and the fields of a result, and nothing of the board.
type healer struct {
	t    *testing.T
	c    *client.Client
	code string
	last *protocol.Result
}

func (a *healer) exec(code string) *protocol.Result {
	a.t.Helper()
	r, err := a.c.Exec(a.t.Context(), protocol.Exec{Code: code})
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

func (a *healer) heal(look func(*healer) error) {
	a.t.Helper()
	broken := a.code
	for attempt := range 5 {
		a.last = a.exec(a.code)
		err := look(a)
		if !a.last.Error && err == nil {
			if attempt == 0 {
				a.t.Fatal("the program was not wrong")
			}
			return
		}
		a.t.Logf("attempt %d: code %q rule %q nearest %v holder %q exception %+v; board: %v", attempt, a.last.Code, a.last.Rule, a.last.Nearest, a.last.Holder, a.last.Exception, err)
		fixed := a.repair()
		if fixed == a.code {
			break
		}
		a.code = fixed
	}
	a.t.Fatalf("not repaired:\n%s\nfrom:\n%s\nlast: %+v", a.code, broken, a.last)
}

// line is the source line that raised, and how to replace it.
func (a *healer) line() (text string, replace func(string) string) {
	lines := strings.Split(a.code, "\n")
	i := -1
	if e := a.last.Exception; e != nil && e.Line > 0 && e.Line <= len(lines) {
		i = e.Line - 1
	}
	if i < 0 {
		return "", func(string) string { return a.code }
	}
	return lines[i], func(s string) string {
		lines[i] = s
		return strings.Join(lines, "\n")
	}
}

var (
	pinArgument = regexp.MustCompile(`Pin\(([^,)]+)`)
	notDefined  = regexp.MustCompile(`name '(\w+)' isn't defined`)
	noAttribute = regexp.MustCompile(`'(\w+)' object has no attribute '(\w+)'`)
	address     = regexp.MustCompile(`\((0x[0-9a-f]{2}),`)
	number      = regexp.MustCompile(`\d+`)
)

// repair returns the code changed by what the last result says.
func (a *healer) repair() string {
	e := a.last.Exception
	text, replace := a.line()
	switch {
	case a.last.Rule == "bus lines" && len(a.last.Nearest) > 0:
		return replace(regexp.MustCompile(`(sda|scl)=Pin\(\d+\)`).ReplaceAllStringFunc(text, func(old string) string {
			line, _, _ := strings.Cut(old, "=")
			for word := range strings.SplitSeq(strings.Join(a.last.Nearest, ", "), ", ") {
				if name, id, ok := strings.Cut(word, "="); ok && name == line {
					return line + "=Pin(" + quoted(id) + ")"
				}
			}
			return old
		}))
	case a.last.Rule == "interlock":
		return replace("Pin('" + a.last.Holder + "', Pin.OUT).off()\n" + text)
	case len(a.last.Nearest) > 0 && pinArgument.MatchString(text):
		return replace(pinArgument.ReplaceAllString(text, "Pin("+quoted(a.last.Nearest[0])))
	case e == nil:
		return a.rescale()
	case e.Class == "SyntaxError" && !strings.HasSuffix(text, ":"):
		return replace(text + ":")
	case e.Class == "NameError":
		return "import " + notDefined.FindStringSubmatch(e.Message)[1] + "\n" + a.code
	case e.Class == "AttributeError":
		return replace(a.rename(text, e.Message))
	case e.Class == "ValueError":
		wanted := number.FindAllString(e.Message, -1)
		return replace(number.ReplaceAllStringFunc(text, func(n string) string {
			if got, _ := strconv.Atoi(n); len(wanted) > 0 && len(n) >= 5 && got > 0 {
				return wanted[len(wanted)-1]
			}
			return n
		}))
	case e.Class == "OSError" && strings.Contains(e.Message, "19"):
		return a.readdress(text)
	case e.Class == "AssertionError":
		return a.findRegister(e.Message)
	}
	return a.code
}

// quoted writes a pin as a program would.
func quoted(pin string) string {
	if _, err := strconv.Atoi(pin); err == nil {
		return pin
	}
	return "'" + pin + "'"
}

// rename replaces an attribute that is not there by the one of the object that is spelt most like it.
func (a *healer) rename(text, message string) string {
	m := noAttribute.FindStringSubmatch(message)
	r := a.exec("print(' '.join(dir(" + m[1] + ")))")
	best, most := "", 0
	for name := range strings.FieldsSeq(r.Stdout) {
		if n := alike(name, m[2]); n > most {
			best, most = name, n
		}
	}
	return strings.Replace(text, "."+m[2], "."+best, 1)
}

// alike counts the pairs of neighbouring letters that two words share, less the difference of their lengths.
func alike(x, y string) int {
	n := -max(len(x)-len(y), len(y)-len(x))
	for i := range len(x) - 1 {
		if strings.Contains(y, x[i:i+2]) {
			n += 2
		}
	}
	return n
}

// readdress replaces an address at which nothing answers by the one on the bus that is nearest.
func (a *healer) readdress(text string) string {
	m := address.FindStringSubmatch(text)
	if m == nil {
		return a.code
	}
	r := a.exec("print(' '.join(str(d) for d in i2c.scan()))")
	wrong, _ := strconv.ParseInt(m[1], 0, 0)
	best := int64(1 << 20)
	for word := range strings.FieldsSeq(r.Stdout) {
		if d, err := strconv.ParseInt(word, 10, 0); err == nil && max(d-wrong, wrong-d) < max(best-wrong, wrong-best) {
			best = d
		}
	}
	return strings.ReplaceAll(a.code, m[1], fmt.Sprintf("0x%02x", best))
}

// findRegister asks the device for the register that holds what the program expected.
func (a *healer) findRegister(message string) string {
	want := regexp.MustCompile(`0x[0-9a-f]+`).FindString(message)
	call := regexp.MustCompile(`readfrom_mem\((0x[0-9a-f]+), (0x[0-9a-f]+),`).FindStringSubmatch(a.code)
	r := a.exec(fmt.Sprintf("print([r for r in range(128) if i2c.readfrom_mem(%s, r, 1)[0] == %s][-1])", call[1], want))
	register, err := strconv.Atoi(strings.TrimSpace(r.Stdout))
	if err != nil {
		return a.code
	}
	return strings.Replace(a.code, call[0], fmt.Sprintf("readfrom_mem(%s, 0x%02x,", call[1], register), 1)
}

// rescale corrects a full scale by how far the program's number is from the guard's own reading.
func (a *healer) rescale() string {
	got, want, err := a.readings("TEMP_ADC")
	if err != nil || want == 0 {
		return a.code
	}
	scale := regexp.MustCompile(`/ (\d+)`).FindStringSubmatch(a.code)
	if scale == nil {
		return a.code
	}
	old, _ := strconv.ParseFloat(scale[1], 64)
	best, least := 1023.0, 1e9
	for _, full := range []float64{255, 1023, 4095, 65535} {
		if d := max(full/old-got/want, got/want-full/old); d < least {
			best, least = full, d
		}
	}
	return strings.Replace(a.code, scale[0], fmt.Sprintf("/ %d", int(best)), 1)
}

// readings are the number that the program pushed last and the guard's reading of that input.
func (a *healer) readings(pin string) (got, want float64, err error) {
	data, err := a.pushed(pin)
	if err != nil {
		return 0, 0, err
	}
	if err := json.Unmarshal(data, &got); err != nil {
		return 0, 0, err
	}
	pins, err := a.c.Pins(a.t.Context())
	if err != nil {
		return 0, 0, err
	}
	for _, p := range pins.Pins {
		if p.Name == pin && p.Value != nil {
			return got, *p.Value, nil
		}
	}
	return 0, 0, fmt.Errorf("%s has no reading", pin)
}

// pushed is the data of the newest event that a program pushed under a name.
func (a *healer) pushed(name string) ([]byte, error) {
	status, err := a.c.Status(a.t.Context())
	if err != nil {
		return nil, err
	}
	var since uint64
	events, cancel, err := a.c.Subscribe(a.t.Context(), nil, &since)
	if err != nil {
		return nil, err
	}
	defer cancel()
	var found []byte
	for e := range events {
		var data struct {
			Value json.RawMessage `json:"value"` // what is no object is wrapped
		}
		if e.Event == "user:"+name && json.Unmarshal(e.Data, &data) == nil {
			found = data.Value
		}
		if e.Seq >= status.EventSeq {
			break
		}
	}
	if found == nil {
		return nil, fmt.Errorf("nothing was pushed as %s", name)
	}
	return found, nil
}

// on looks whether an output is on.
func on(pin string) func(*healer) error {
	return func(a *healer) error {
		r, err := a.c.PinRead(a.t.Context(), pin)
		if err != nil {
			return err
		}
		if string(r.Value) != "1" {
			return fmt.Errorf("%s is %s", pin, r.Value)
		}
		return nil
	}
}

// anyOn looks whether the last run switched an output on that is on now: the agent was free to choose which.
func anyOn(a *healer) error {
	for _, e := range a.last.Effects {
		if e.To == 1 {
			return on(e.Pin)(a)
		}
	}
	return fmt.Errorf("nothing was switched on")
}

// event looks for what a program pushed last under a name.
func event(name, pattern string) func(*healer) error {
	return func(a *healer) error {
		data, err := a.pushed(name)
		if err != nil {
			return err
		}
		if !regexp.MustCompile("^" + pattern + "$").Match(data) {
			return fmt.Errorf("%s is %s", name, data)
		}
		return nil
	}
}

// reading looks whether the program's number is the guard's.
func reading(pin string) func(*healer) error {
	return func(a *healer) error {
		got, want, err := a.readings(pin)
		if err != nil {
			return err
		}
		if got < want*0.97 || got > want*1.03 {
			return fmt.Errorf("the program says %g, the guard %g", got, want)
		}
		return nil
	}
}
