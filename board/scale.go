package board

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"

	"github.com/pal-terminal/pal/limits"
)

// Scale turns the raw counts of an analogue input into its unit: arithmetic on raw with + - * / and brackets, such as
// "raw * 3.3 / 4095 * 100". It is evaluated by the guard, so it can do nothing else.
type Scale struct {
	text string
	eval scaleFunc
}

type scaleFunc = func(raw float64) float64

// ParseScale reads an expression of up to limits.ScaleBytes.
func ParseScale(text string) (*Scale, error) {
	if len(text) > limits.ScaleBytes {
		return nil, fmt.Errorf("a scale has at most %d bytes", limits.ScaleBytes)
	}
	expr, err := parser.ParseExpr(text) // such arithmetic is written in Go as everywhere
	if err != nil {
		return nil, errNoScale
	}
	eval, err := compileScale(expr)
	if err != nil {
		return nil, err
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

var errNoScale = errors.New("a scale is arithmetic on raw with + - * / and brackets")

// compileScale lets through the few kinds of expression that a scale may have.
func compileScale(expr ast.Expr) (scaleFunc, error) {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return compileScale(e.X)
	case *ast.Ident:
		if e.Name == "raw" {
			return func(raw float64) float64 { return raw }, nil
		}
	case *ast.BasicLit:
		if v, err := strconv.ParseFloat(e.Value, 64); err == nil {
			return func(float64) float64 { return v }, nil
		}
	case *ast.UnaryExpr:
		if x, err := compileScale(e.X); err == nil && e.Op == token.SUB {
			return func(raw float64) float64 { return -x(raw) }, nil
		}
	case *ast.BinaryExpr:
		x, errX := compileScale(e.X)
		y, errY := compileScale(e.Y)
		if err := errors.Join(errX, errY); err != nil {
			return nil, errNoScale
		}
		switch e.Op { //nolint:exhaustive // every other operator is refused below
		case token.ADD:
			return func(raw float64) float64 { return x(raw) + y(raw) }, nil
		case token.SUB:
			return func(raw float64) float64 { return x(raw) - y(raw) }, nil
		case token.MUL:
			return func(raw float64) float64 { return x(raw) * y(raw) }, nil
		case token.QUO:
			return func(raw float64) float64 { return x(raw) / y(raw) }, nil
		}
	}
	return nil, errNoScale
}
