package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// Errors of a [Store], worded for whoever asked. Any other error of it comes from the state folder.
var (
	// ErrInvalid: a name, class, scope or life time that no token may have.
	ErrInvalid = errors.New("not allowed for a token")
	// ErrExists: the name is taken.
	ErrExists = errors.New("the token name is taken")
	// ErrNotFound: no token has the name.
	ErrNotFound = errors.New("no such token")
	// ErrFull: there are limits.Tokens tokens, places for the local ones included.
	ErrFull = errors.New("too many tokens")
	// ErrDamaged: the token file cannot be trusted. Nobody is let in on its ground.
	ErrDamaged = errors.New("the token file is damaged")
)

// tokenPrefix starts every token, so that secret scanners can find one that leaked.
const tokenPrefix = "pal_"

// Info describes a token without its secret.
type Info struct {
	Name    string
	Class   Class
	Scopes  []Scope
	Ask     bool
	Created time.Time
	Expires time.Time // zero: never
}

// Actor returns who the token's holder is.
func (i Info) Actor() Actor {
	return Actor{Name: i.Name, Class: i.Class, Scopes: slices.Clone(i.Scopes), Ask: i.Ask}
}

// expired reports whether the token's time is over.
func (i Info) expired(now time.Time) bool { return !i.Expires.IsZero() && !now.Before(i.Expires) }

// entry is one token.
type entry struct {
	Info
	hash    [sha256.Size]byte
	revoked bool // no longer valid, and still in the file because that could not be written
}

// Store holds the tokens of a terminal and keeps them, hashed, in a file of the state folder. One process uses a folder at
// a time. All methods are safe for concurrent use.
type Store struct {
	disk disk
	now  func() time.Time

	change sync.Mutex // serialises changes, which wait for the disk; taken before mu

	mu       sync.RWMutex // guards what follows and is never held while waiting
	entries  map[string]entry
	watchers []func(name string)
}

// Open loads the tokens in dir, which must exist. A missing file is an empty store; a file that is damaged, or that others
// than its owner may open, is [ErrDamaged]. now is the wall clock that expiry is judged by.
func Open(dir string, now func() time.Time) (*Store, error) {
	return open(folder(dir), now)
}

func open(d disk, now func() time.Time) (*Store, error) {
	entries, err := load(d)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", fileName, err)
	}
	return &Store{disk: d, now: now, entries: entries}, nil
}

// Create makes a token and returns its secret, which is stored nowhere and cannot be had again. ttl 0 means that it never
// expires. No agent may hold the admin scope: an agent that could make tokens could make itself a human.
func (s *Store) Create(name string, class Class, scopes []Scope, ask bool, ttl time.Duration) (string, Info, error) {
	if strings.HasPrefix(name, localPrefix) {
		return "", Info{}, fmt.Errorf("%w: names that start with %q are the terminal's own", ErrInvalid, localPrefix)
	}
	if ttl < 0 {
		return "", Info{}, fmt.Errorf("%w: negative life time", ErrInvalid)
	}
	s.change.Lock()
	defer s.change.Unlock()
	s.expire()
	info := Info{Name: name, Class: class, Scopes: slices.Clone(scopes), Ask: ask, Created: s.clock()}
	if ttl > 0 {
		info.Expires = info.Created.Add(ttl)
	}
	if err := info.validate(); err != nil {
		return "", Info{}, err
	}
	s.mu.RLock()
	_, taken := s.entries[name]
	count := 0
	for n := range s.entries {
		if !strings.HasPrefix(n, localPrefix) {
			count++
		}
	}
	s.mu.RUnlock()
	switch {
	case taken:
		return "", Info{}, fmt.Errorf("%w: %s", ErrExists, name)
	case count >= limits.Tokens-localTokens:
		return "", Info{}, fmt.Errorf("%w: there are %d", ErrFull, count)
	}
	token := newToken()
	s.put(entry{Info: info, hash: sha256.Sum256([]byte(token))})
	if err := s.save(); err != nil {
		s.drop(name)
		return "", Info{}, fmt.Errorf("create token %s: %w", name, err)
	}
	return token, info.clone(), nil
}

// Revoke ends a token. From the moment watchers are called it is valid nowhere. When the file cannot be written Revoke
// returns an error and the token stays revoked for the life of the process; Revoke again, or any later change, writes it.
func (s *Store) Revoke(name string) error {
	s.change.Lock()
	defer s.change.Unlock()
	s.mu.Lock()
	e, ok := s.entries[name]
	if ok {
		e.revoked = true
		s.entries[name] = e
	}
	s.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	s.notify(name)
	if err := s.save(); err != nil {
		return fmt.Errorf("revoke token %s for good (it is revoked until a restart): %w", name, err)
	}
	return nil
}

// List returns the valid tokens, by name.
func (s *Store) List() []Info {
	now := s.now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]Info, 0, len(s.entries))
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		if e := s.entries[name]; !e.revoked && !e.expired(now) {
			list = append(list, e.clone())
		}
	}
	return list
}

// Lookup finds the actor that a token proves. It takes the same time whichever token is nearly right.
//
// Whoever keeps a connection open on the ground of a Lookup first registers the connection where its watcher finds it, and
// then looks up again: otherwise a revocation between the two would miss it.
func (s *Store) Lookup(token string) (Actor, Info, bool) {
	if !strings.HasPrefix(token, tokenPrefix) || len(token) > limits.CredentialBytes {
		return Actor{}, Info{}, false
	}
	now, hash := s.now(), sha256.Sum256([]byte(token))
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found entry
	ok := false
	for _, e := range s.entries {
		if subtle.ConstantTimeCompare(e.hash[:], hash[:]) == 1 {
			found, ok = e, true
		}
	}
	if !ok || found.revoked || found.expired(now) {
		return Actor{}, Info{}, false
	}
	return found.Actor(), found.clone(), true
}

// Actor returns who a name stands for now; false when no valid token has it.
func (s *Store) Actor(name string) (Actor, bool) {
	now := s.now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.entries[name]
	if !ok || e.revoked || e.expired(now) {
		return Actor{}, false
	}
	return e.clone().Actor(), true
}

// Watch has f called with the name of every token that is revoked, replaced or found expired. Calls come from the
// goroutine that made the change and f must not call Create, Revoke, Expire or EnsureLocal. Watch before serving: it does
// not tell of the past.
func (s *Store) Watch(f func(name string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, f)
}

// Expire drops tokens whose time is over, telling the watchers. Lookup refuses an expired token in any case: Expire is for
// the connections that it had opened.
func (s *Store) Expire() {
	s.change.Lock()
	defer s.change.Unlock()
	s.expire()
}

// expire forgets what has expired. The file follows with the next change: it says itself when its tokens end. The caller
// holds change.
func (s *Store) expire() {
	now := s.now()
	var gone []string
	s.mu.Lock()
	for name, e := range s.entries {
		if e.expired(now) {
			delete(s.entries, name)
			gone = append(gone, name)
		}
	}
	s.mu.Unlock()
	slices.Sort(gone)
	for _, name := range gone {
		s.notify(name)
	}
}

// notify tells the watchers. The caller holds change and not mu.
func (s *Store) notify(name string) {
	s.mu.RLock()
	watchers := slices.Clone(s.watchers)
	s.mu.RUnlock()
	for _, f := range watchers {
		f(name)
	}
}

// clock returns the time as the file keeps it: wall clock, in milliseconds. A monotonic reading would stand still while the
// machine sleeps and let tokens live longer.
func (s *Store) clock() time.Time { return time.UnixMilli(s.now().UnixMilli()) }

func (s *Store) put(e entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[e.Name] = e
}

func (s *Store) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, name)
}

// save writes the valid tokens and then forgets the revoked ones. The caller holds change.
func (s *Store) save() error {
	s.mu.RLock()
	valid := make([]entry, 0, len(s.entries))
	for _, name := range slices.Sorted(maps.Keys(s.entries)) {
		if e := s.entries[name]; !e.revoked {
			valid = append(valid, e)
		}
	}
	s.mu.RUnlock()
	if err := store(s.disk, valid); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.entries, func(_ string, e entry) bool { return e.revoked })
	return nil
}

func (i Info) clone() Info {
	i.Scopes = slices.Clone(i.Scopes)
	return i
}

// newToken returns a token of 256 random bits.
func newToken() string {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: the program ends when there is no randomness
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
}
