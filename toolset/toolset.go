// Package toolset knows what an agent may call by name: functions of board.py, and functions that programs offered.
//
// # Model
//
// A tool of the board is found in the text of board.py and never changes. A program offers one of its own top-level functions:
// its definition is read from the text of the program, and it stays with the session that made it, until that or the machine is
// gone. Arguments are checked against the signature before anything runs.
//
// It refuses a program's tool that has the name of a public function of board.py: what a person checked cannot be replaced by
// what an agent wrote. It runs nothing.
package toolset

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/pal-terminal/pal/board/boardpy"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Set is the tools of a terminal. Its methods are safe for concurrent use.
type Set struct {
	reserved map[string]bool // public functions of board.py
	board    []boardpy.Function

	mu   sync.Mutex
	made []made
}

// made is a tool that a program offered.
type made struct {
	f boardpy.Function
	Owner
}

// Owner says whose a tool is.
type Owner struct {
	Actor   string
	Session string // as the client named it
	Key     string // the session's namespace in the machine
}

// New reads board.py.
func New(source []byte) *Set {
	s := &Set{reserved: map[string]bool{}, board: boardpy.Tools(source)}
	for _, f := range boardpy.Functions(source) {
		s.reserved[f.Name] = true
	}
	return s
}

var name = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// Offer takes in a function that the running program, whose text is source, wants to offer.
func (s *Set) Offer(o Owner, function string, source []byte) *protocol.Error {
	deny := func(format string, args ...any) *protocol.Error {
		return &protocol.Error{Code: protocol.CodeDenied, Rule: "tool.name", Resource: "tool", Message: fmt.Sprintf(format, args...)}
	}
	if !name.MatchString(function) {
		return deny("a tool has a name of 1 to 64 of a-z, 0-9 and _")
	}
	if s.reserved[function] {
		return deny("%s belongs to board.py", function)
	}
	if o.Key == "" {
		return deny("a session that is thrown away keeps no tools")
	}
	all := boardpy.Functions(source)
	i := len(all) - 1
	for ; i >= 0 && all[i].Name != function; i-- {
	}
	if i < 0 {
		return deny("%s is no top-level function in the code that runs, whose public ones can be tools", function)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(m made) bool { return m.Key == o.Key && m.f.Name == function }
	n := 0
	for _, m := range s.made {
		if m.Key == o.Key && !same(m) {
			n++
		}
	}
	if n >= limits.SessionTools {
		return &protocol.Error{Code: protocol.CodeFull, Rule: "tool.number", Message: fmt.Sprintf("the session has %d tools already", n)}
	}
	s.made = append(slices.DeleteFunc(s.made, same), made{all[i], o})
	return nil
}

// Find returns what is to be called, with its arguments as JSON of [args, kwargs]. key is empty for a function of the board.
func (s *Set) Find(actor, session, function string, args []byte) (key string, call []byte, err error) {
	f, key := s.find(actor, session, function)
	if f == nil {
		return "", nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "no such tool; describe lists them", Resource: function, Nearest: s.names(actor, session)}
	}
	if call, err = f.Arguments(args); err != nil {
		return "", nil, &protocol.Error{Code: protocol.CodeBadRequest, Message: err.Error(), Resource: function}
	}
	return key, call, nil
}

func (s *Set) find(actor, session, function string) (*boardpy.Function, string) {
	for i := range s.board {
		if s.board[i].Name == function {
			return &s.board[i], ""
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.made {
		if m.Actor == actor && m.Session == session && m.f.Name == function {
			return &m.f, m.Key
		}
	}
	return nil, ""
}

// names lists some of what could have been meant.
func (s *Set) names(actor, session string) (list []string) {
	for _, t := range s.List() {
		if t.MadeBy == "board" || t.Actor == actor && t.Session == session {
			list = append(list, t.Name)
		}
	}
	return list[:min(len(list), limits.SessionTools)]
}

// Drop forgets the tools that match: their session or machine is gone.
func (s *Set) Drop(match func(Owner) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = slices.DeleteFunc(s.made, func(m made) bool { return match(m.Owner) })
}

// List returns every tool, the board's first.
func (s *Set) List() []protocol.FuncInfo {
	list := []protocol.FuncInfo{}
	for _, f := range s.board {
		list = append(list, protocol.FuncInfo{Name: f.Name, Signature: f.Signature, Doc: f.Doc, MadeBy: "board"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.made {
		list = append(list, protocol.FuncInfo{
			Name: m.f.Name, Signature: m.f.Signature, Doc: m.f.Doc, MadeBy: "agent", Actor: m.Actor, Session: m.Session,
		})
	}
	return list
}
