//go:build unix

package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/terminal"
)

// patience is how long a fact may take to come true on a busy machine.
const patience = 20 * time.Second

// leastStories is how many programs there must be.
const leastStories = 60

func TestExamples(t *testing.T) {
	stories, err := filepath.Glob("testdata/*.story")
	if err != nil {
		t.Fatal(err)
	}
	if len(stories) < leastStories {
		t.Errorf("got %d stories, want at least %d", len(stories), leastStories)
	}
	for _, name := range stories {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".story"), func(t *testing.T) {
			steps, err := readStory(name)
			if err != nil {
				t.Fatal(err)
			}
			tell(t, steps)
		})
	}
}

// teller tells one story.
type teller struct {
	t        *testing.T
	x        *terminal.Terminal
	c        *client.Client
	last     *protocol.Result
	answered bool // the end of the last run was looked at
	checked  int  // lines that looked at the board
	cues     []cue
	mu       sync.Mutex // guards events
	events   []protocol.Event
}

// cue is something to be done during a run.
type cue struct {
	when  *regexp.Regexp
	after time.Duration
	sim   string
}

func tell(t *testing.T, steps []step) {
	x := terminal.Start(t, nil)
	c, err := client.Dial(t.Context(), client.Target{URL: x.URL, Token: x.Human, Name: "story"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	s := &teller{t: t, x: x, c: c, answered: true}
	events, cancel, err := c.Subscribe(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cancel)
	go func() {
		for e := range events {
			s.mu.Lock()
			s.events = append(s.events, e)
			s.mu.Unlock()
		}
	}()
	for _, st := range steps {
		if err := s.do(st); err != nil {
			t.Fatalf("line %d: %s %s: %v\n%s", st.line, st.verb, st.args, err, s.about())
		}
	}
	if err := s.ended(); err != nil {
		t.Fatal(err)
	}
	if s.checked == 0 {
		t.Error("the story looks at nothing but the program's words")
	}
}

// about shows the last run.
func (s *teller) about() string {
	if s.last == nil {
		return ""
	}
	return fmt.Sprintf("last run: code %q %s\nstdout: %s\nstderr: %s\neffects: %+v", s.last.Code, s.last.Message, s.last.Stdout, s.last.Stderr, s.last.Effects)
}

// ended fails when the last run ended badly and no line said that it should.
func (s *teller) ended() error {
	if s.answered || s.last == nil {
		return nil
	}
	s.answered = true
	if s.last.Error {
		return fmt.Errorf("the run ended with %s: %s\n%s", s.last.Code, s.last.Message, s.last.Stderr)
	}
	return nil
}

var verbs = map[string]func(*teller, string) error{
	"sim": (*teller).sim, "scenario": (*teller).scenario, "when": (*teller).when, "after": (*teller).after, "run": (*teller).run, "code": (*teller).code,
	"error": (*teller).failed, "line": (*teller).line, "stdout": (*teller).stdout, "level": (*teller).level, "effects": (*teller).effects,
	"switched": (*teller).switched, "state": (*teller).state, "file": (*teller).file, "nofile": (*teller).nofile, "event": (*teller).event,
	"tool": (*teller).tool,
}

// looks are the verbs that look at the board.
var looks = map[string]bool{
	"level": true, "effects": true, "switched": true, "state": true, "file": true, "nofile": true, "event": true, "tool": true, "error": true,
}

func (s *teller) do(st step) error {
	act, ok := verbs[st.verb]
	if !ok {
		return errors.New("no such verb")
	}
	if st.verb != "error" && st.verb != "when" && st.verb != "after" {
		if err := s.ended(); err != nil {
			return err
		}
	}
	if looks[st.verb] {
		s.checked++
	}
	return act(s, st.args)
}

func (s *teller) sim(args string) error {
	head, value, err := words(args, 1)
	if err != nil {
		return err
	}
	name, value, _ := strings.Cut(value, " ")
	_, err = s.c.Sim(s.t.Context(), protocol.Sim{Op: head[0], Name: name, Value: strings.TrimSpace(value)})
	return err
}

func (s *teller) scenario(args string) error {
	_, err := s.c.Sim(s.t.Context(), protocol.Sim{Op: "scenario", Value: strings.ReplaceAll(args, ";", "\n")})
	return err
}

func (s *teller) when(args string) error {
	pattern, sim, found := strings.Cut(args, " sim ")
	re, err := regexp.Compile(pattern)
	if !found || err != nil {
		return fmt.Errorf("want PATTERN sim …: %w", err)
	}
	s.cues = append(s.cues, cue{when: re, sim: sim})
	return nil
}

func (s *teller) after(args string) error {
	delay, sim, found := strings.Cut(args, " sim ")
	d, err := time.ParseDuration(delay)
	if !found || err != nil {
		return fmt.Errorf("want DURATION sim …: %w", err)
	}
	s.cues = append(s.cues, cue{after: d, sim: sim})
	return nil
}

func (s *teller) run(args string) error {
	r, err := parseRun(args)
	if err != nil {
		return err
	}
	code, err := source(r.file)
	if err != nil {
		return err
	}
	return s.exec(code, r)
}

func (s *teller) code(args string) error { return s.exec(args, runArgs{timeout: patience}) }

// exec runs code, giving the cues meanwhile.
func (s *teller) exec(code string, r runArgs) error {
	ms := r.timeout.Milliseconds()
	limit := int64(64 << 10)
	cues := s.cues
	s.cues = nil
	s.mu.Lock()
	s.events = nil
	s.mu.Unlock()
	var failed []error
	var mu sync.Mutex
	give := func(sim string) {
		if err := s.sim(sim); err != nil {
			mu.Lock()
			failed = append(failed, fmt.Errorf("sim %s: %w", sim, err))
			mu.Unlock()
		}
	}
	var given sync.WaitGroup
	ctx, over := context.WithCancel(s.t.Context())
	for _, q := range cues {
		if q.when == nil {
			given.Go(func() {
				select {
				case <-time.After(q.after):
					give(q.sim)
				case <-ctx.Done():
				}
			})
		}
	}
	var text strings.Builder
	result, err := s.c.ExecStream(s.t.Context(), protocol.Exec{Code: code, TimeoutMS: &ms, Session: r.session, MaxOutput: &limit}, func(o *protocol.Output) {
		text.WriteString(o.Data)
		for i, q := range cues {
			if q.when != nil && q.when.MatchString(text.String()) {
				cues[i].when = nil
				give(q.sim)
			}
		}
	})
	over()
	given.Wait()
	s.last, s.answered = result, false
	return errors.Join(append(failed, err)...)
}

func (s *teller) failed(args string) error {
	s.answered = true
	code, rule, _ := strings.Cut(args, " ")
	if s.last == nil || string(s.last.Code) != code || rule != "" && s.last.Rule != rule {
		return fmt.Errorf("got code %q rule %q", s.last.Code, s.last.Rule)
	}
	return nil
}

func (s *teller) line(args string) error {
	if s.last.Exception == nil || fmt.Sprint(s.last.Exception.Line) != args {
		return fmt.Errorf("got exception %+v", s.last.Exception)
	}
	return nil
}

func (s *teller) stdout(args string) error {
	if ok, err := regexp.MatchString("(?ms)"+args, s.last.Stdout); !ok || err != nil {
		return errors.Join(errors.New("not printed"), err)
	}
	return nil
}

func (s *teller) level(args string) error {
	list, _, err := words(args, 2)
	if err != nil {
		return err
	}
	r, err := s.c.PinRead(s.t.Context(), list[0])
	if err != nil {
		return err
	}
	if string(r.Value) != list[1] {
		return fmt.Errorf("got %s", r.Value)
	}
	return nil
}

// levels are what the last run drove an output to, from the level before.
func (s *teller) levels(pin string) []int {
	var list []int
	for _, e := range s.last.Effects {
		if e.Name == pin || e.Pin == pin {
			if len(list) == 0 {
				list = append(list, max(e.From, 0))
			}
			if e.To != list[len(list)-1] {
				list = append(list, e.To)
			}
		}
	}
	return list
}

func (s *teller) effects(args string) error {
	list, _, err := words(args, 2)
	if err != nil {
		return err
	}
	got := strings.Trim(strings.ReplaceAll(fmt.Sprint(s.levels(list[0])), " ", ">"), "[]")
	if got != list[1] {
		return fmt.Errorf("got %s", got)
	}
	return nil
}

func (s *teller) switched(args string) error {
	list, _, err := words(args, 2)
	if err != nil {
		return err
	}
	ok, err := holds(len(s.levels(list[0]))-1, ">=", list[1])
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("got %v", s.levels(list[0])), err)
	}
	return nil
}

func (s *teller) state(args string) error {
	list, want, err := words(args, 3)
	if err != nil {
		return err
	}
	a, err := s.c.Sim(s.t.Context(), protocol.Sim{Op: "show", Name: list[0]})
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(a.Sim, &doc); err != nil {
		return err
	}
	got, err := at(doc["state"], list[1])
	if err != nil {
		return err
	}
	ok, err := holds(got, list[2], want)
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("got %v in %s", got, a.Sim), err)
	}
	return nil
}

func (s *teller) file(args string) error {
	list, pattern, err := words(args, 1)
	if err != nil {
		return err
	}
	data, err := s.c.GetFile(s.t.Context(), list[0])
	if err != nil {
		return err
	}
	if ok, err := regexp.Match("(?ms)"+pattern, data); !ok || err != nil {
		return errors.Join(fmt.Errorf("it holds %q", data), err)
	}
	return nil
}

func (s *teller) nofile(args string) error {
	_, err := s.c.GetFile(s.t.Context(), args)
	if p, ok := errors.AsType[*protocol.Error](err); ok && p.Code == protocol.CodeNotFound {
		return nil
	}
	return fmt.Errorf("got %w, want not_found", err)
}

func (s *teller) event(args string) error {
	list, pattern, err := words(args, 1)
	if err != nil {
		return err
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		s.mu.Lock()
		for _, e := range s.events {
			if e.Event == list[0] && re.Match(e.Data) {
				s.mu.Unlock()
				return nil
			}
		}
		s.mu.Unlock()
	}
	return fmt.Errorf("it did not come; got %+v", s.events)
}

func (s *teller) tool(args string) error {
	list, want, err := words(args, 2)
	if err != nil {
		return err
	}
	r, err := s.c.Tool(s.t.Context(), protocol.Tool{Tool: list[0], Args: []byte(list[1])})
	if err != nil {
		return err
	}
	if r.Error || string(r.Value) != want {
		return fmt.Errorf("got %s (%s %s)", r.Value, r.Code, r.Message)
	}
	return nil
}
