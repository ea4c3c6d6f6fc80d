package board

import (
	"fmt"
	"math"
	"strconv"

	"github.com/pal-terminal/pal/limits"
)

// Scale turns the raw counts of an analogue input into its unit: arithmetic on raw with + - * / and brackets, such as
// "raw * 3.3 / 4095 * 100". It is evaluated by the guard, so it can do nothing else.
type Scale struct {
	text string
	eval func(raw float64) float64
}

// ParseScale reads an expression of up to limits.ScaleBytes and limits.ScaleDepth levels of brackets.
func ParseScale(text string) (*Scale, error) {
	p := &scaleParser{rest: text}
	if len(text) > limits.ScaleBytes {
		return nil, fmt.Errorf("a scale has at most %d bytes", limits.ScaleBytes)
	}
	eval, err := p.sum(0)
	if err != nil {
		return nil, err
	}
	if p.peek(); p.rest != "" {
		return nil, fmt.Errorf("a scale cannot have %q there", p.rest)
	}
	return &Scale{text: text, eval: eval}, nil
}

// Value returns the reading for raw counts. It is NaN or infinite where the expression divides by zero.
func (s *Scale) Value(raw int) float64 { return s.eval(float64(raw)) }

// String returns the expression.
func (s *Scale) String() string { return s.text }

// Reading returns the value of an analogue pin for raw counts: scaled when the pin has a scale.
func (p *Pin) Reading(raw int) float64 {
	if p.Scale == nil {
		return float64(raw)
	}
	return p.Scale.Value(raw)
}

type scaleFunc = func(raw float64) float64

// scaleParser holds what is left to read of an expression.
type scaleParser struct{ rest string }

// peek skips spaces and returns the next byte, 0 at the end.
func (p *scaleParser) peek() byte {
	for p.rest != "" && p.rest[0] == ' ' {
		p.rest = p.rest[1:]
	}
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *scaleParser) sum(depth int) (scaleFunc, error) {
	left, err := p.product(depth)
	for err == nil {
		op := p.peek()
		if op != '+' && op != '-' {
			return left, nil
		}
		p.rest = p.rest[1:]
		var right scaleFunc
		if right, err = p.product(depth); err == nil {
			a := left
			if op == '+' {
				left = func(raw float64) float64 { return a(raw) + right(raw) }
			} else {
				left = func(raw float64) float64 { return a(raw) - right(raw) }
			}
		}
	}
	return nil, err
}

func (p *scaleParser) product(depth int) (scaleFunc, error) {
	left, err := p.factor(depth)
	for err == nil {
		op := p.peek()
		if op != '*' && op != '/' {
			return left, nil
		}
		p.rest = p.rest[1:]
		var right scaleFunc
		if right, err = p.factor(depth); err == nil {
			a := left
			if op == '*' {
				left = func(raw float64) float64 { return a(raw) * right(raw) }
			} else {
				left = func(raw float64) float64 { return a(raw) / right(raw) }
			}
		}
	}
	return nil, err
}

func (p *scaleParser) factor(depth int) (scaleFunc, error) {
	if depth >= limits.ScaleDepth {
		return nil, fmt.Errorf("a scale nests at most %d deep", limits.ScaleDepth)
	}
	switch c := p.peek(); {
	case c == '(':
		p.rest = p.rest[1:]
		inner, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.peek() != ')' {
			return nil, fmt.Errorf("a bracket of the scale is not closed")
		}
		p.rest = p.rest[1:]
		return inner, nil
	case c == '-':
		p.rest = p.rest[1:]
		inner, err := p.factor(depth + 1)
		if err != nil {
			return nil, err
		}
		return func(raw float64) float64 { return -inner(raw) }, nil
	case c >= 'a' && c <= 'z':
		return p.name()
	default:
		return p.literal()
	}
}

func (p *scaleParser) name() (scaleFunc, error) {
	n := 0
	for n < len(p.rest) && isNameByte(p.rest[n], n > 0) {
		n++
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	if name != "raw" {
		return nil, fmt.Errorf("a scale knows only raw, not %q", name)
	}
	return func(raw float64) float64 { return raw }, nil
}

func (p *scaleParser) literal() (scaleFunc, error) {
	n := 0
	for n < len(p.rest) && (p.rest[n] >= '0' && p.rest[n] <= '9' || p.rest[n] == '.') {
		n++
	}
	v, err := strconv.ParseFloat(p.rest[:n], 64)
	if err != nil || math.IsInf(v, 0) {
		return nil, fmt.Errorf("a scale needs a number, raw or a bracket at %q", p.rest)
	}
	p.rest = p.rest[n:]
	return func(float64) float64 { return v }, nil
}
