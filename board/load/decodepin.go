package load

import (
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/limits"
)

// pin reads one element of pins. It keeps a pin even when something is wrong with it, so that references to it do not
// raise problems of their own.
func (dec *decoder) pin(n ast.Node, _ string) {
	if len(dec.d.Pins) >= limits.BoardPins {
		if len(dec.d.Pins) == limits.BoardPins {
			dec.addf(posOf(n), "a board has at most %d pins", limits.BoardPins)
		}
		return
	}
	// Agent until read: a missing or misspelt owner is one problem, not one for each rule as well.
	p := board.Pin{Owner: board.OwnerAgent, Safe: -1, At: posOf(n)}
	refs := pinRefs{keys: map[string]board.Pos{}}
	known := fields{
		"id":        dec.id(&p.ID),
		"name":      dec.identifier(&p.Name, limits.NameBytes),
		"owner":     word(&dec.reader, &p.Owner, ownerWords),
		"strapping": dec.boolean(&p.Strapping),
		"note":      dec.text(&p.Note, limits.BoardTextBytes),
	}
	for key, read := range dec.ruleFields(&p, &refs) {
		known[key] = func(n ast.Node, what string) {
			refs.keys[key] = posOf(n)
			read(n, what)
		}
	}
	dec.mapping(n, "pin", known, "id", "owner")
	dec.d.Pins = append(dec.d.Pins, p)
	dec.refs = append(dec.refs, refs)
}

// ruleFields reads what a system pin may not have.
func (dec *decoder) ruleFields(p *board.Pin, refs *pinRefs) fields {
	return fields{
		"can": dec.list(func(n ast.Node, what string) {
			i := -1
			if word(&dec.reader, &i, capWords)(n, what); i >= 0 {
				p.Can |= 1 << i
			}
		}),
		"pull": word(&dec.reader, &p.Pull, pullWords),
		"scale": func(n ast.Node, what string) {
			var text string
			if dec.text(&text, limits.ScaleBytes)(n, what); text == "" {
				return
			}
			var err error
			if p.Scale, err = board.ParseScale(text); err != nil {
				dec.addf(posOf(n), "%v", err)
			}
		},
		"unit":     dec.text(&p.Unit, limits.NameBytes),
		"safe":     word(&dec.reader, &p.Safe, levelWords),
		"max_on":   dec.duration(&p.MaxOn, limits.RuleLongest),
		"min_off":  dec.duration(&p.MinOff, limits.RuleLongest),
		"max_rate": dec.rate(&p.MaxRate),
		"interlock": dec.list(func(n ast.Node, what string) {
			refs.interlock = append(refs.interlock, ref{})
			dec.ref(&refs.interlock[len(refs.interlock)-1])(n, what)
		}),
		"requires":       func(n ast.Node, what string) { dec.requirement(n, what, p, refs) },
		"trip":           func(n ast.Node, what string) { dec.trip(n, what, p, refs) },
		"lease_required": dec.boolean(&p.LeaseRequired),
		"on_disconnect": func(n ast.Node, what string) {
			i := -1
			word(&dec.reader, &i, []string{"safe"})(n, what)
			p.OnDisconnectSafe = i == 0
		},
		"danger": word(&dec.reader, &p.Danger, dangerWords),
	}
}

// requirement reads a name, or {pin: NAME, level: low}.
func (dec *decoder) requirement(n ast.Node, what string, p *board.Pin, refs *pinRefs) {
	p.Requires = &board.Requirement{Pin: -1, Level: 1}
	if _, ok := n.(*ast.MappingNode); !ok {
		dec.ref(&refs.requires)(n, what)
		return
	}
	dec.mapping(n, what, fields{
		"pin":   dec.ref(&refs.requires),
		"level": word(&dec.reader, &p.Requires.Level, levelWords),
	}, "pin")
}

func (dec *decoder) trip(n ast.Node, what string, p *board.Pin, refs *pinRefs) {
	p.Trip = &board.Trip{ADC: -1}
	before, ms := len(dec.problems), 0
	dec.mapping(n, what, fields{
		"adc":    dec.ref(&refs.adc),
		"above":  dec.number(&p.Trip.Above),
		"below":  dec.number(&p.Trip.Below),
		"for_ms": dec.integer(&ms, 0, int(limits.TripLongest.Milliseconds())),
	}, "adc")
	if (p.Trip.Above == nil) == (p.Trip.Below == nil) && len(dec.problems) == before {
		dec.addf(posOf(n), "trip needs above or below, and not both")
	}
	p.Trip.For = time.Duration(ms) * time.Millisecond
}

// id reads a pin's canonical id: a number from 0 or a short word. A number in quotes is the number.
func (dec *decoder) id(to *board.ID) field {
	return func(n ast.Node, what string) {
		switch v := n.(type) {
		case *ast.IntegerNode:
			i := -1
			if dec.integer(&i, 0, 1<<16)(n, what); i >= 0 {
				*to = board.ID(strconv.Itoa(i))
			}
		case *ast.StringNode:
			if _, ok := board.ID(v.Value).Number(); ok {
				*to = board.ID(v.Value)
				return
			}
			dec.identifier((*string)(to), limits.PinIDBytes)(n, what)
		default:
			dec.addf(posOf(n), "id must be a number or a word, not %s", kindOf(n))
		}
	}
}

// identifier reads a name of a pin.
func (dec *decoder) identifier(to *string, most int) field {
	return dec.name(to, most, identifier, "letters, digits and underscores, and not start with a digit")
}
