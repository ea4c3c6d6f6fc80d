package board

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

var rateUnits = map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}

// Load reads the board file at path, and beside it the file that its board_py names. The error is a [Problems] when the
// description is at fault.
func Load(path string) (*Description, error) {
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

// Parse reads a board description from src, which errors call name. boardPy is the source of the file that board_py names,
// nil when it is not at hand, which is a problem if the description names one. The error is a [Problems].
func Parse(name string, src, boardPy []byte) (*Description, error) {
	return parse(name, src, func(py string) ([]byte, error) {
		if boardPy == nil {
			return nil, fmt.Errorf("%s is not at hand", py)
		}
		return boardPy, nil
	})
}

func parse(file string, src []byte, open func(name string) ([]byte, error)) (*Description, error) {
	dec := &decoder{reader: reader{file: file}, d: &Description{File: file, MaxExec: limits.MaxExecDefault}}
	if len(src) > limits.BoardFileBytes {
		dec.addf(Pos{1, 1}, "a board file has at most %d bytes", limits.BoardFileBytes)
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

// decoder fills a Description. References between pins are kept as written until every pin is known.
type decoder struct {
	reader
	d    *Description
	refs []pinRefs // by pin index
	devs []deviceRefs
	bus  []map[string]ref
}

// ref is a pin named somewhere in the file.
type ref struct {
	name string
	at   Pos
}

type pinRefs struct {
	interlock []ref
	requires  ref
	adc       ref
	keys      map[string]Pos // rule keys that stand on the pin, to complain about
}

type deviceRefs struct{ pin, bus ref }

func (dec *decoder) board(n ast.Node, open func(string) ([]byte, error)) {
	d := dec.d
	known := fields{
		"board": func(n ast.Node) {
			if s, ok := dec.text(n, "board", limits.NameBytes); ok && dec.plainName(n, "board", s) {
				d.Name = s
			}
		},
		"mode": func(n ast.Node) {
			if i, ok := dec.word(n, "mode", modeWords); ok {
				d.Mode = Mode(i)
			}
		},
		"max_exec": func(n ast.Node) {
			if v, ok := dec.duration(n, "max_exec", limits.MaxExecCeiling); ok {
				d.MaxExec = v
			}
		},
		"board_py": func(n ast.Node) { dec.boardPy(n, open) },
		"pins":     func(n ast.Node) { dec.list(n, "pins", dec.pin) },
		"buses":    func(n ast.Node) { dec.list(n, "buses", dec.oneBus) },
		"drivers":  dec.driver,
		"devices":  func(n ast.Node) { dec.list(n, "devices", dec.device) },
	}
	d.Driver = DriverSpec{Kind: "sim"}
	dec.mapping(n, "board file", known, "board", "pins")
}

// boardPy reads the source that board_py names.
func (dec *decoder) boardPy(n ast.Node, open func(string) ([]byte, error)) {
	name, ok := dec.text(n, "board_py", limits.NameBytes)
	if !ok {
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

func (dec *decoder) driver(n ast.Node) {
	spec := DriverSpec{At: posOf(n)}
	kinds := []string{"sim", "linux", "serial"}
	var chip, port ast.Node
	dec.mapping(n, "drivers", fields{
		"kind": func(n ast.Node) {
			if i, ok := dec.word(n, "kind", kinds); ok {
				spec.Kind = kinds[i]
			}
		},
		"chip": func(n ast.Node) { chip = n; spec.Chip, _ = dec.text(n, "chip", limits.NameBytes) },
		"port": func(n ast.Node) { port = n; spec.Port, _ = dec.text(n, "port", limits.BoardTextBytes) },
	}, "kind")
	if chip != nil && spec.Kind != "linux" {
		dec.addf(posOf(chip), "chip belongs to the linux driver")
	}
	if port != nil && spec.Kind != "serial" {
		dec.addf(posOf(port), "port belongs to the serial driver")
	}
	dec.d.Driver = spec
}

func (dec *decoder) oneBus(n ast.Node) {
	b := Bus{Pins: map[string]int{}, At: posOf(n)}
	refs := map[string]ref{}
	known := fields{"owner": func(n ast.Node) { b.Owner = dec.owner(n) }}
	for kind := range busRoles {
		known[kind] = func(n ast.Node) {
			if b.Kind != "" {
				dec.addf(posOf(n), "one bus cannot be %s and %s", b.Kind, kind)
			}
			b.Kind = kind
			b.Index, _ = dec.integer(n, kind, 0, 31)
		}
	}
	for _, roles := range busRoles {
		for role := range roles {
			known[role] = func(n ast.Node) { refs[role] = dec.ref(n, role) }
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

func (dec *decoder) device(n ast.Node) {
	dev := Device{Pin: -1, Addr: -1, At: posOf(n)}
	var refs deviceRefs
	dec.mapping(n, "device", fields{
		"type": func(n ast.Node) { dev.Type, _ = dec.text(n, "type", limits.SimNameBytes) },
		"name": func(n ast.Node) { dev.Name, _ = dec.text(n, "name", limits.SimNameBytes) },
		"pin":  func(n ast.Node) { refs.pin = dec.ref(n, "pin") },
		"bus": func(n ast.Node) {
			dev.Bus, _ = dec.text(n, "bus", limits.SimNameBytes)
			refs.bus = ref{dev.Bus, posOf(n)}
		},
		"addr": func(n ast.Node) { dev.Addr, _ = dec.integer(n, "addr", 0x08, 0x77) },
		"value": func(n ast.Node) {
			if v, ok := dec.integer(n, "value", -1<<20, 1<<20); ok {
				dev.Value = &v
			}
		},
	}, "type")
	dec.d.Devices = append(dec.d.Devices, dev)
	dec.devs = append(dec.devs, refs)
}

func (dec *decoder) owner(n ast.Node) Owner {
	i, ok := dec.word(n, "owner", ownerWords)
	if !ok {
		return OwnerAgent
	}
	return Owner(i)
}

// ref reads the name of a pin, which may be a number.
func (dec *decoder) ref(n ast.Node, what string) ref {
	if _, ok := n.(*ast.IntegerNode); ok {
		i, ok := dec.integer(n, what, 0, 1<<16)
		if !ok {
			return ref{at: posOf(n)}
		}
		return ref{strconv.Itoa(i), posOf(n)}
	}
	s, _ := dec.text(n, what, limits.NameBytes)
	return ref{s, posOf(n)}
}

// pullOf maps the order of pullWords to biases.
func pullOf(i int) hw.Pull { return []hw.Pull{hw.PullNone, hw.PullUp, hw.PullDown}[i] }

// rate reads "10/s", "6/min" or "100/h".
func (dec *decoder) rate(n ast.Node) Rate {
	if s, ok := n.(*ast.StringNode); ok {
		count, unit, _ := strings.Cut(s.Value, "/")
		v, err := strconv.Atoi(count)
		if per, ok := rateUnits[unit]; ok && err == nil && v >= 1 && v <= limits.RateChanges && strconv.Itoa(v) == count {
			return Rate{N: v, Per: per}
		}
	}
	dec.addf(posOf(n), "max_rate is 1 to %d changes per %s, such as 10/s", limits.RateChanges, strings.Join(sortedKeys(rateUnits), ", "))
	return Rate{}
}
