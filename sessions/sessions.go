// Package sessions names the Python namespaces of actors.
//
// # Model
//
// Each actor has limits.SessionsPerActor sessions by name; the least recently used gives way. A name that was forgotten gets another
// namespace when it comes again, so that it starts empty also while the machine has not been told. "new" is a session that is thrown away.
//
// It refuses nothing and moves nothing.
package sessions

import (
	"fmt"
	"slices"

	"github.com/pal-terminal/pal/limits"
)

// Names are the sessions of all actors. The zero value is ready. It is for one goroutine.
type Names struct {
	names map[string][]session // by actor, most recently used first
	next  uint64
}

type session struct{ name, key string }

// Use marks a session as used and returns its namespace, "" for one that is thrown away. dropped is the name of the session that gave way
// for it, "" for none, and forget its namespace.
func (s *Names) Use(actor, name string) (key, dropped string, forget []string) {
	if name == "new" {
		return "", "", nil
	}
	list := s.names[actor]
	used := session{name: name}
	if i := slices.IndexFunc(list, func(o session) bool { return o.name == name }); i >= 0 {
		used = list[i]
		list = slices.Delete(list, i, i+1)
	} else {
		s.next++
		used.key = fmt.Sprintf("%s/%s/%d", actor, name, s.next)
	}
	list = slices.Insert(list, 0, used)
	if len(list) > limits.SessionsPerActor {
		old := list[limits.SessionsPerActor]
		list, dropped, forget = list[:limits.SessionsPerActor], old.name, []string{old.key}
	}
	if s.names == nil {
		s.names = map[string][]session{}
	}
	s.names[actor] = list
	return used.key, dropped, forget
}

// Remove forgets those sessions of an actor that match and returns their namespaces.
func (s *Names) Remove(actor string, match func(name string) bool) (forget []string) {
	list := slices.DeleteFunc(s.names[actor], func(o session) bool {
		if match(o.name) {
			forget = append(forget, o.key)
			return true
		}
		return false
	})
	if len(list) == 0 {
		delete(s.names, actor)
	} else {
		s.names[actor] = list
	}
	return forget
}

// Clear forgets all.
func (s *Names) Clear() { clear(s.names) }

// Len is the number of actors that have any.
func (s *Names) Len() int { return len(s.names) }
