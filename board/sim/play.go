package sim

import (
	"fmt"
	"time"

	"github.com/pal-terminal/pal/board/sim/scenario"
)

// show is a scenario under way or over.
type show struct {
	name   string
	steps  []scenario.Step
	next   int // step
	began  time.Time
	failed []string
	due    *event // of the next step, nil when there is none
}

// showState is what "ls" says of it.
type showState struct {
	Name    string   `json:"name,omitzero"`
	Steps   int      `json:"steps"`
	Done    int      `json:"done"`
	Running bool     `json:"running"`
	Next    string   `json:"next,omitzero"`
	At      string   `json:"at,omitzero"`     // of the next step, from the start
	Failed  []string `json:"failed,omitzero"` // steps that could not be done, with the reason
}

const failedKept = 16

func (s *show) state() showState {
	st := showState{Name: s.name, Steps: len(s.steps), Done: s.next, Running: s.due != nil, Failed: s.failed}
	if s.due != nil {
		st.Next, st.At = s.steps[s.next].String(), s.steps[s.next].At.String()
	}
	return st
}

// play starts a scenario in the place of a running one. All of it must be good: its names too. Callers do not hold mu: reading the text
// is foreign code.
func (b *Board) play(name, text string) (any, error) {
	steps, err := scenario.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("sim scenario: %w", err)
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	for _, s := range steps {
		if s.Op == "fault" && s.Name == "board" {
			continue
		}
		if _, err := b.find(s.Name); err != nil {
			return nil, fmt.Errorf("sim scenario: line %d: %w", s.Line, err)
		}
	}
	b.stopShow()
	b.show = &show{name: name, steps: steps, began: b.now()}
	b.cue()
	return b.list(), nil
}

// cue puts the next step on the agenda.
func (b *Board) cue() {
	s := b.show
	s.due = nil
	if s.next == len(s.steps) {
		return
	}
	s.due = b.schedule(s.began.Add(s.steps[s.next].At), nil, func() {
		step := s.steps[s.next]
		s.next++
		if _, err := b.do(step.Op, step.Name, step.Value); err != nil && len(s.failed) < failedKept {
			s.failed = append(s.failed, fmt.Sprintf("line %d: %v", step.Line, err))
		}
		b.cue()
	})
}

// stopShow ends a running scenario.
func (b *Board) stopShow() {
	if b.show != nil && b.show.due != nil {
		b.drop(b.show.due)
	}
	b.show = nil
}
