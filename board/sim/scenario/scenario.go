// Package scenario reads what is to happen on the simulated bench and when: a YAML list of steps,
//
//   - {at: 0s, do: "set TEMP_ADC 2048"}
//   - {at: 1.5s, do: press BUTTON}
//
// # What it refuses
//
// Unknown keys, steps that go back in time, times before 0 and after a day, operations that are none of [Operations], texts and lists
// longer than limits say, and everything of YAML beyond lists and mappings of plain text. Whether a name is anything is the
// bench's to say. Every error names its line.
package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pal-terminal/pal/limits"
)

// Step is one thing that happens.
type Step struct {
	At    time.Duration // from the start of the scenario
	Op    string
	Name  string
	Value string // may be empty
	Line  int    // in the text
}

// String returns the step as it was written.
func (s Step) String() string { return strings.TrimSpace(s.Op + " " + s.Name + " " + s.Value) }

// Operations are the operations of a bench that a step may do.
var Operations = []string{"set", "press", "release", "wave", "stuck", "fault"}

const (
	longest = 24 * time.Hour
	deepest = 4 // brackets in brackets: more than a scenario has
)

// Parse reads a scenario. Errors have the form "line N: …".
func Parse(text string) (steps []Step, err error) {
	// The parser is foreign code on foreign input: a panic in it is a bad scenario, not a dead guard.
	defer func() {
		if v := recover(); v != nil {
			steps, err = nil, fmt.Errorf("line 1: this is not YAML that can be read (%v)", v)
		}
	}()
	if err := shape(text); err != nil {
		return nil, err
	}
	f, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		line, msg := 1, err.Error()
		if ye, ok := errors.AsType[yaml.Error](err); ok {
			msg = ye.GetMessage()
			if tk := ye.GetToken(); tk != nil && tk.Position != nil {
				line = tk.Position.Line
			}
		}
		return nil, fmt.Errorf("line %d: %s", line, msg)
	}
	if len(f.Docs) != 1 || f.Docs[0].Body == nil {
		return nil, errors.New("line 1: a scenario is one list of steps")
	}
	list, ok := f.Docs[0].Body.(*ast.SequenceNode)
	if !ok {
		return nil, fmt.Errorf("line %d: a scenario is a list of steps such as {at: 1.5s, do: press BUTTON}", lineOf(f.Docs[0].Body))
	}
	if len(list.Values) > limits.SimScenarioSteps {
		return nil, fmt.Errorf("line %d: a scenario has at most %d steps", lineOf(list.Values[limits.SimScenarioSteps]), limits.SimScenarioSteps)
	}
	for _, n := range list.Values {
		s, err := step(n)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", lineOf(n), err)
		}
		if len(steps) > 0 && s.At < steps[len(steps)-1].At {
			return nil, fmt.Errorf("line %d: this step goes back in time", s.Line)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// shape holds a text to what the YAML parser, which recurses, can be given.
func shape(text string) error {
	if len(text) > limits.SimScenarioBytes {
		return fmt.Errorf("line 1: a scenario has at most %d bytes", limits.SimScenarioBytes)
	}
	depth, line := 0, 0
	for part := range strings.Lines(text) {
		line++
		indent := len(part) - len(strings.TrimLeft(part, " -?:"))
		if len(part) > limits.BoardLineBytes || indent > limits.BoardNesting {
			return fmt.Errorf("line %d: a line has at most %d bytes, %d of them indentation", line, limits.BoardLineBytes, limits.BoardNesting)
		}
		for _, c := range part {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			if depth > deepest {
				return fmt.Errorf("line %d: brackets nest at most %d deep", line, deepest)
			}
		}
	}
	return nil
}

func lineOf(n ast.Node) int {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return lineOf(m.Values[0].Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

// step reads one step.
func step(n ast.Node) (Step, error) {
	s := Step{At: -1, Line: lineOf(n)}
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return s, errors.New("a step is a mapping such as {at: 1.5s, do: press BUTTON}")
	}
	for _, v := range m.Values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			return s, errors.New("a key must be a plain word")
		}
		value, ok := v.Value.(*ast.StringNode)
		if !ok {
			return s, fmt.Errorf("%s must be text", key.Value)
		}
		switch key.Value {
		case "at":
			var err error
			if s.At, err = time.ParseDuration(value.Value); err != nil || s.At < 0 || s.At > longest {
				return s, fmt.Errorf("at: %q is no time from 0s to %s, such as 1.5s", value.Value, longest)
			}
		case "do":
			if err := s.do(value.Value); err != nil {
				return s, err
			}
		default:
			return s, fmt.Errorf("unknown key %q (known: at do)", key.Value)
		}
	}
	if s.At < 0 || s.Op == "" {
		return s, errors.New("a step needs at and do")
	}
	return s, nil
}

func (s *Step) do(text string) error {
	words := strings.SplitN(text, " ", 3)
	if !slices.Contains(Operations, words[0]) || len(words) < 2 || words[1] == "" {
		return fmt.Errorf("do: %q is not one of %s with a name and, where it needs one, a value", text, strings.Join(Operations, ", "))
	}
	s.Op, s.Name = words[0], words[1]
	if len(words) == 3 {
		s.Value = words[2]
	}
	return nil
}
