//go:build unix

// Package examples runs the programs of the folder examples as an agent would send them, on the simulated bench, and checks what
// they did to the board: levels, device states, files, events. What a program prints is never enough.
//
// # Model
//
// Each file of testdata is a story: lines of the form VERB ARGUMENTS, run in order against a fresh terminal.
//
//	sim OP NAME VALUE        a finger or the weather, as `pal sim` does it
//	scenario TEXT            lines of a scenario joined by ;
//	when PATTERN sim …       during the next run: once its output matches
//	after DURATION sim …     during the next run: so long after its start
//	run FILE [KEY=VALUE …]   run examples/FILE, or testdata/FILE; keys: timeout, session
//	code TEXT                run one line
//	error CODE [RULE]        the last run ended so; without this line it must have ended well
//	line N                   the line of the last run's exception
//	stdout PATTERN           it printed that
//	level PIN LEVEL          the line's level now, by the guard
//	effects PIN LEVELS       what the last run drove, such as 0>1>0, by the guard's record
//	switched PIN MIN         the last run changed the output at least so often
//	state NAME PATH OP VALUE a device's state: OP is == != >= <= ~ (pattern) or =~ (number within 2 percent)
//	file PATH PATTERN        a file below /flash
//	nofile PATH
//	event NAME PATTERN       an event of the last run or later, within patience
//	tool NAME ARGS VALUE     a tool's answer; ARGS and VALUE are JSON without spaces
package examples

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// step is one line of a story.
type step struct {
	line int
	verb string
	args string // the rest of the line
}

// readStory reads a file of testdata.
func readStory(name string) ([]step, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var steps []step
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		verb, args, _ := strings.Cut(line, " ")
		steps = append(steps, step{i + 1, verb, strings.TrimSpace(args)})
	}
	return steps, nil
}

// source finds a program by name.
func source(name string) (string, error) {
	for _, dir := range []string{filepath.Join("..", "..", "examples"), "testdata"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			return string(text), nil
		}
	}
	return "", fmt.Errorf("no program %s in examples or testdata", name)
}

// words splits the first n words off a line.
func words(line string, n int) ([]string, string, error) {
	var list []string
	for range n {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" {
			return nil, "", fmt.Errorf("want %d words", n)
		}
		list, line = append(list, word), rest
	}
	return list, strings.TrimSpace(line), nil
}

// at finds the value at a dotted path of a JSON document; a number is an index of a list.
func at(doc any, path string) (any, error) {
	for part := range strings.SplitSeq(path, ".") {
		switch d := doc.(type) {
		case map[string]any:
			v, ok := d[part]
			if !ok {
				return nil, fmt.Errorf("no %q in %v", part, doc)
			}
			doc = v
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(d) {
				return nil, fmt.Errorf("no item %q in a list of %d", part, len(d))
			}
			doc = d[i]
		default:
			return nil, fmt.Errorf("nothing below %v at %q", doc, part)
		}
	}
	return doc, nil
}

// holds compares a value of a document with what a story says of it.
func holds(got any, op, want string) (bool, error) {
	text := fmt.Sprint(got)
	if _, ok := got.(string); !ok {
		raw, err := json.Marshal(got)
		if err != nil {
			return false, err
		}
		text = string(raw)
	}
	switch op {
	case "==":
		return text == want, nil
	case "!=":
		return text != want, nil
	case "~":
		return regexp.MatchString(want, text)
	}
	a, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false, err
	}
	b, err := strconv.ParseFloat(want, 64)
	if err != nil {
		return false, err
	}
	switch op {
	case ">=":
		return a >= b, nil
	case "<=":
		return a <= b, nil
	case "=~":
		return math.Abs(a-b) <= 0.02*math.Abs(b), nil
	}
	return false, fmt.Errorf("no comparison %q", op)
}

// runArgs are the arguments of a run.
type runArgs struct {
	file, session string
	timeout       time.Duration
}

func parseRun(line string) (runArgs, error) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return runArgs{}, fmt.Errorf("run what?")
	}
	r := runArgs{file: fields[0], timeout: 20 * time.Second}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		var err error
		switch key {
		case "timeout":
			r.timeout, err = time.ParseDuration(value)
		case "session":
			r.session = value
		default:
			err = fmt.Errorf("run has no %q", key)
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}
