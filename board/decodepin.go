package board

import (
	"slices"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pal-terminal/pal/limits"
)

// pin reads one element of pins. It keeps a pin even when something is wrong with it, so that references to it do not
// raise problems of their own.
func (dec *decoder) pin(n ast.Node) {
	if len(dec.d.Pins) >= limits.BoardPins {
		if len(dec.d.Pins) == limits.BoardPins {
			dec.addf(posOf(n), "a board has at most %d pins", limits.BoardPins)
		}
		return
	}
	// Agent until read: a missing or misspelt owner is one problem, not one for each rule as well.
	p := Pin{Owner: OwnerAgent, Safe: -1, At: posOf(n)}
	refs := pinRefs{keys: map[string]Pos{}}
	known := dec.pinFields(&p)
	for key, read := range dec.ruleFields(&p, &refs) {
		known[key] = func(n ast.Node) {
			refs.keys[key] = posOf(n)
			read(n)
		}
	}
	dec.mapping(n, "pin", known, "id", "owner")
	dec.d.Pins = append(dec.d.Pins, p)
	dec.refs = append(dec.refs, refs)
}

// pinFields reads what any pin may have.
func (dec *decoder) pinFields(p *Pin) fields {
	return fields{
		"id": func(n ast.Node) { p.ID = dec.id(n) },
		"name": func(n ast.Node) {
			if s, ok := dec.text(n, "name", limits.NameBytes); ok && dec.identifier(n, "name", s) {
				p.Name = s
			}
		},
		"owner":     func(n ast.Node) { p.Owner = dec.owner(n) },
		"strapping": func(n ast.Node) { p.Strapping, _ = dec.boolean(n, "strapping") },
		"note":      func(n ast.Node) { p.Note, _ = dec.text(n, "note", limits.BoardTextBytes) },
	}
}

// ruleFields reads what a system pin may not have.
func (dec *decoder) ruleFields(p *Pin, refs *pinRefs) fields {
	span := func(key string, to *time.Duration) func(ast.Node) {
		return func(n ast.Node) { *to, _ = dec.duration(n, key, limits.RuleLongest) }
	}
	return fields{
		"can": func(n ast.Node) {
			dec.list(n, "can", func(n ast.Node) {
				if i, ok := dec.word(n, "can", capWords); ok {
					p.Can |= 1 << i
				}
			})
		},
		"pull": func(n ast.Node) {
			if i, ok := dec.word(n, "pull", pullWords); ok {
				p.Pull = pullOf(i)
			}
		},
		"scale": func(n ast.Node) {
			if s, ok := dec.text(n, "scale", limits.ScaleBytes); ok {
				var err error
				if p.Scale, err = ParseScale(s); err != nil {
					dec.addf(posOf(n), "%v", err)
				}
			}
		},
		"unit": func(n ast.Node) { p.Unit, _ = dec.text(n, "unit", limits.NameBytes) },
		"safe": func(n ast.Node) {
			if i, ok := dec.word(n, "safe", levelWords); ok {
				p.Safe = i
			}
		},
		"max_on":   span("max_on", &p.MaxOn),
		"min_off":  span("min_off", &p.MinOff),
		"max_rate": func(n ast.Node) { p.MaxRate = dec.rate(n) },
		"interlock": func(n ast.Node) {
			dec.list(n, "interlock", func(n ast.Node) { refs.interlock = append(refs.interlock, dec.ref(n, "interlock")) })
		},
		"requires":       func(n ast.Node) { dec.requirement(n, p, refs) },
		"trip":           func(n ast.Node) { dec.trip(n, p, refs) },
		"lease_required": func(n ast.Node) { p.LeaseRequired, _ = dec.boolean(n, "lease_required") },
		"on_disconnect": func(n ast.Node) {
			_, p.OnDisconnectSafe = dec.word(n, "on_disconnect", []string{"safe"})
		},
		"danger": func(n ast.Node) {
			if i, ok := dec.word(n, "danger", dangerWords); ok {
				p.Danger = Danger(i)
			}
		},
	}
}

// requirement reads a name, or {pin: NAME, level: low}.
func (dec *decoder) requirement(n ast.Node, p *Pin, refs *pinRefs) {
	p.Requires = &Requirement{Pin: -1, Level: 1}
	if _, ok := n.(*ast.MappingNode); !ok {
		refs.requires = dec.ref(n, "requires")
		return
	}
	dec.mapping(n, "requires", fields{
		"pin": func(n ast.Node) { refs.requires = dec.ref(n, "pin") },
		"level": func(n ast.Node) {
			if i, ok := dec.word(n, "level", levelWords); ok {
				p.Requires.Level = i
			}
		},
	}, "pin")
}

func (dec *decoder) trip(n ast.Node, p *Pin, refs *pinRefs) {
	trip := &Trip{ADC: -1}
	threshold := func(key string, to **float64) func(ast.Node) {
		return func(n ast.Node) {
			if v, ok := dec.number(n, key); ok {
				*to = &v
			}
		}
	}
	before := len(dec.problems)
	dec.mapping(n, "trip", fields{
		"adc":   func(n ast.Node) { refs.adc = dec.ref(n, "adc") },
		"above": threshold("above", &trip.Above),
		"below": threshold("below", &trip.Below),
		"for_ms": func(n ast.Node) {
			ms, _ := dec.integer(n, "for_ms", 0, int(limits.TripLongest.Milliseconds()))
			trip.For = time.Duration(ms) * time.Millisecond
		},
	}, "adc")
	if (trip.Above == nil) == (trip.Below == nil) && len(dec.problems) == before {
		dec.addf(posOf(n), "trip needs above or below, and not both")
	}
	p.Trip = trip
}

// id reads a pin's canonical id: a number from 0 or a short word. A number in quotes is the number.
func (dec *decoder) id(n ast.Node) ID {
	switch v := n.(type) {
	case *ast.IntegerNode:
		if i, ok := dec.integer(n, "id", 0, 1<<16); ok {
			return ID(strconv.Itoa(i))
		}
		return ""
	case *ast.StringNode:
		id := ID(v.Value)
		if _, ok := id.Number(); ok {
			return id
		}
		if s, ok := dec.text(n, "id", limits.PinIDBytes); ok && dec.identifier(n, "id", s) {
			return id
		}
		return ""
	default:
		dec.addf(posOf(n), "id must be a number or a word, not %s", kindOf(n))
		return ""
	}
}

// identifier holds s to the form of a Python name, since pins become attributes there.
func (dec *decoder) identifier(n ast.Node, what, s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i], i > 0) {
			dec.addf(posOf(n), "%s %q must be letters, digits and underscores, and not start with a digit", what, s)
			return false
		}
	}
	return true
}

// plainName holds s to what is safe in a file name, an address and a log.
func (dec *decoder) plainName(n ast.Node, what, s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i], true) && (i == 0 || !slices.Contains([]byte("-."), s[i])) {
			dec.addf(posOf(n), "%s %q must be letters, digits, '_', '-' and '.'", what, s)
			return false
		}
	}
	return true
}

func isNameByte(c byte, digits bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || digits && c >= '0' && c <= '9'
}
