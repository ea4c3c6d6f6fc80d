// Package load reads board files.
//
// # Model
//
// [File], [Bytes] and [Builtin] return a [board.Description] made from one YAML file. It is checked as a whole: every
// problem is reported at once, each with file, line and column, and a description with a problem is never returned.
//
// # What it refuses
//
// Unknown keys, a pin described twice, an actuator on a strapping pin, an output without a safe level, rules that name
// pins that do not exist or cannot do the job, names that look like another pin, YAML anchors, aliases and tags.
package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/limits"
)

// Words of the board file, in the order of the constants (of package hw for pullWords).
var (
	ownerWords  = []string{board.OwnerSystem.String(), board.OwnerAgent.String(), board.OwnerGuard.String()}
	dangerWords = []string{board.DangerLow.String(), board.DangerMedium.String(), board.DangerHigh.String()}
	modeWords   = []string{board.ModeOpen.String(), board.ModeEngineering.String()}
	capWords    = (^board.Caps(0)).Words()
	levelWords  = []string{"low", "high"}
	pullWords   = []string{"none", "up", "down"}
)

var rateUnits = board.RateUnits()

// File reads the board file at path, and beside it the file that its board_py names. The error is a [board.Problems] when the
// description is at fault.
func File(path string) (*board.Description, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("open board folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing was written
	src, err := readBounded(root, filepath.Base(path), limits.BoardFileBytes)
	if err != nil {
		return nil, fmt.Errorf("read board file: %w", err)
	}
	return parse(path, src, func(name string) ([]byte, error) {
		// One byte too many is enough for the description to refuse it.
		return readBounded(root, name, limits.CodeBytes)
	})
}

// Bytes reads a board description from src, which errors call name. boardPy is the source of the file that board_py names,
// nil when it is not at hand, which is a problem if the description names one. The error is a [board.Problems].
func Bytes(name string, src, boardPy []byte) (*board.Description, error) {
	return parse(name, src, func(py string) ([]byte, error) {
		if boardPy == nil {
			return nil, fmt.Errorf("%s is not at hand", py)
		}
		return boardPy, nil
	})
}

func parse(file string, src []byte, open func(name string) ([]byte, error)) (*board.Description, error) {
	dec := &decoder{reader: reader{file: file}, d: &board.Description{File: file, MaxExec: limits.MaxExecDefault}}
	if len(src) > limits.BoardFileBytes {
		dec.addf(board.Pos{Line: 1, Col: 1}, "a board file has at most %d bytes", limits.BoardFileBytes)
		return nil, dec.err()
	}
	if body := dec.document(src); body != nil {
		dec.board(body, open)
		dec.validate()
	}
	if err := dec.err(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(src)
	dec.d.Hash, dec.d.Text = hex.EncodeToString(sum[:]), bytes.Clone(src)
	return dec.d, nil
}

// decoder fills a description. References between pins are kept as written until every pin is known.
type decoder struct {
	reader
	d    *board.Description
	refs []pinRefs // by pin index
	devs []deviceRefs
	bus  []map[string]*ref
}

// ref is a pin (or bus) named somewhere in the file.
type ref struct {
	name string
	at   board.Pos
}

type pinRefs struct {
	interlock []ref
	requires  ref
	adc       ref
	keys      map[string]board.Pos // rule keys that stand on the pin, to complain about
}

type deviceRefs struct {
	pin, bus ref
	pins     map[string]*ref
}

func (dec *decoder) board(n ast.Node, open func(string) ([]byte, error)) {
	d := dec.d
	d.Driver = board.DriverSpec{Kind: "sim"}
	dec.mapping(n, "board file", fields{
		"board":    dec.name(&d.Name, limits.NameBytes, plainName, "letters, digits, '_', '-' and '.'"),
		"mode":     word(&dec.reader, &d.Mode, modeWords),
		"max_exec": dec.duration(&d.MaxExec, limits.MaxExecCeiling),
		"board_py": func(n ast.Node, what string) { dec.boardPy(n, what, open) },
		"pins":     dec.list(dec.pin),
		"buses":    dec.list(dec.oneBus),
		"drivers":  dec.driver,
		"devices":  dec.list(dec.device),
	}, "board", "pins")
}

// boardPy reads the source that board_py names.
func (dec *decoder) boardPy(n ast.Node, what string, open func(string) ([]byte, error)) {
	var name string
	if dec.text(&name, limits.NameBytes)(n, what); name == "" {
		return
	}
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		dec.addf(posOf(n), "board_py names a file beside the board file, without folders")
		return
	}
	src, err := open(name)
	if err != nil {
		dec.addf(posOf(n), "board_py: %v", err)
		return
	}
	if err := checkSource(src); err != nil {
		dec.addf(posOf(n), "board_py: %s %v", name, err)
		return
	}
	dec.d.BoardPyName, dec.d.BoardPy = name, src
}

func (dec *decoder) driver(n ast.Node, what string) {
	kinds := []string{"sim", "linux", "serial"}
	kind, timing, seed, spec := 0, -1, -1, board.DriverSpec{At: posOf(n)}
	dec.mapping(n, what, fields{
		"kind":   word(&dec.reader, &kind, kinds),
		"chip":   dec.text(&spec.Chip, limits.NameBytes),
		"port":   dec.text(&spec.Port, limits.BoardTextBytes),
		"timing": word(&dec.reader, &timing, []string{"real"}),
		"seed":   dec.integer(&seed, 0, 1<<30),
	}, "kind")
	spec.Kind = kinds[kind]
	if spec.Chip != "" && spec.Kind != "linux" {
		dec.addf(spec.At, "chip belongs to the linux driver")
	}
	if spec.Port != "" && spec.Kind != "serial" {
		dec.addf(spec.At, "port belongs to the serial driver")
	}
	if (timing == 0 || seed >= 0) && spec.Kind != "sim" {
		dec.addf(spec.At, "timing and seed belong to the sim driver")
	}
	spec.Real, spec.Seed = timing == 0, uint64(max(0, seed))
	dec.d.Driver = spec
}

func (dec *decoder) oneBus(n ast.Node, _ string) {
	b := board.Bus{Owner: board.OwnerAgent, Pins: map[string]int{}, At: posOf(n)}
	refs := map[string]*ref{}
	known := fields{"owner": word(&dec.reader, &b.Owner, ownerWords)}
	for kind, roles := range busRoles {
		known[kind] = func(n ast.Node, what string) {
			if b.Kind != "" {
				dec.addf(posOf(n), "one bus cannot be %s and %s", b.Kind, kind)
			}
			b.Kind = kind
			dec.integer(&b.Index, 0, 31)(n, what)
		}
		for role := range roles {
			known[role] = func(n ast.Node, what string) {
				refs[role] = new(ref)
				dec.ref(refs[role])(n, what)
			}
		}
	}
	dec.mapping(n, "bus", known, "owner")
	if b.Kind == "" {
		dec.addf(b.At, "a bus needs one of %s", strings.Join(sortedKeys(busRoles), ", "))
		return
	}
	dec.d.Buses = append(dec.d.Buses, b)
	dec.bus = append(dec.bus, refs)
}

// busRoles holds, for each kind of bus, the lines it has and whether each must be named.
var busRoles = map[string]map[string]bool{
	"i2c":  {"sda": true, "scl": true},
	"spi":  {"sck": true, "mosi": false, "miso": false, "cs": false},
	"uart": {"tx": true, "rx": true},
}

func (dec *decoder) device(n ast.Node, _ string) {
	dev := board.Device{Pin: -1, Addr: -1, At: posOf(n)}
	refs := deviceRefs{pins: map[string]*ref{}}
	known := fields{
		"type": dec.text(&dev.Type, limits.SimNameBytes),
		"name": dec.text(&dev.Name, limits.SimNameBytes),
		"pin":  dec.ref(&refs.pin),
		"pins": func(n ast.Node, what string) {
			roles := fields{}
			for _, role := range keysOf(n) {
				refs.pins[role] = new(ref)
				roles[role] = dec.ref(refs.pins[role])
			}
			dec.mapping(n, what, roles)
		},
		"bus":  dec.ref(&refs.bus),
		"addr": dec.integer(&dev.Addr, 0x08, 0x77),
		"value": func(n ast.Node, what string) {
			dev.Value = new(int)
			dec.integer(dev.Value, -1<<20, 1<<20)(n, what)
		},
	}
	// What else stands there is for the device's model to know: only its form can be checked here.
	for _, key := range keysOf(n) {
		if _, ok := known[key]; !ok {
			known[key] = func(n ast.Node, what string) { dec.setting(&dev, n, what) }
		}
	}
	dec.mapping(n, "device", known, "type")
	dev.Bus = refs.bus.name
	dec.d.Devices = append(dec.d.Devices, dev)
	dec.devs = append(dec.devs, refs)
}

// setting reads a scalar of a device as it was written.
func (dec *decoder) setting(dev *board.Device, n ast.Node, what string) {
	_, scalar := n.(ast.ScalarNode)
	if _, null := n.(*ast.NullNode); !scalar || null || len(n.GetToken().Value) > limits.SimNameBytes {
		dec.addf(posOf(n), "%s must be a word or a number of at most %d bytes, not %s", what, limits.SimNameBytes, kindOf(n))
		return
	}
	if dev.Values == nil {
		dev.Values = map[string]string{}
	}
	dev.Values[what] = n.GetToken().Value
}

// ref reads the name of a pin or bus, which may be a number.
func (dec *decoder) ref(to *ref) field {
	return func(n ast.Node, what string) {
		to.at = posOf(n)
		if _, ok := n.(*ast.IntegerNode); !ok {
			dec.text(&to.name, limits.NameBytes)(n, what)
			return
		}
		i := -1
		if dec.integer(&i, 0, 1<<16)(n, what); i >= 0 {
			to.name = strconv.Itoa(i)
		}
	}
}

// rate reads "10/s", "6/min" or "100/h".
func (dec *decoder) rate(to *board.Rate) field {
	return func(n ast.Node, _ string) {
		if s, ok := n.(*ast.StringNode); ok {
			count, unit, _ := strings.Cut(s.Value, "/")
			v, err := strconv.Atoi(count)
			if per, ok := rateUnits[unit]; ok && err == nil && v >= 1 && v <= limits.RateChanges && strconv.Itoa(v) == count {
				*to = board.Rate{N: v, Per: per}
				return
			}
		}
		dec.addf(posOf(n), "max_rate is 1 to %d changes per %s, such as 10/s", limits.RateChanges, strings.Join(sortedKeys(rateUnits), ", "))
	}
}
