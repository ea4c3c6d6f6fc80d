package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pal-terminal/pal/limits"
)

// localPrefix starts the names of the tokens that a terminal makes for programs of its own machine.
const localPrefix = "local-"

// Names of the local tokens. Their secrets stand in clear in NAME.token in the state folder, which only the user of the
// terminal can read.
const (
	LocalHuman = localPrefix + "human"
	LocalAgent = localPrefix + "agent"
)

// localTokens is how many local tokens there are; Create leaves room for them.
const localTokens = 2

// Local holds the secrets of the local tokens.
type Local struct {
	Human string // may everything; used by the command line
	Agent string // may read, exec and actuate; handed to agents
}

// LocalFile returns the name, in the state folder, of the file that holds a local token in clear.
func LocalFile(name string) string { return name + ".token" }

// EnsureLocal returns the local tokens. One that is missing or was revoked, whose file and hash disagree, whose rights are
// not the ones it should have, or whose file others may open is made anew, which ends the old one.
func (s *Store) EnsureLocal() (Local, error) {
	s.change.Lock()
	defer s.change.Unlock()
	human, err := s.ensure(LocalHuman, Human, Read, Exec, Actuate, Admin)
	if err != nil {
		return Local{}, err
	}
	agent, err := s.ensure(LocalAgent, Agent, Read, Exec, Actuate)
	if err != nil {
		return Local{}, err
	}
	return Local{Human: human, Agent: agent}, nil
}

// ensure returns one local token. The caller holds change.
func (s *Store) ensure(name string, class Class, scopes ...Scope) (string, error) {
	token, err := s.readLocal(name)
	if err != nil {
		return "", fmt.Errorf("read the token of %s: %w", name, err)
	}
	want := Info{Name: name, Class: class, Scopes: scopes, Created: s.clock()}
	s.mu.RLock()
	have, ok := s.entries[name]
	s.mu.RUnlock()
	hash := sha256.Sum256([]byte(token))
	if ok && token != "" && !have.revoked && have.Expires.IsZero() && have.Class == class && !have.Ask &&
		slices.Equal(have.Scopes, scopes) && subtle.ConstantTimeCompare(have.hash[:], hash[:]) == 1 {
		return token, nil
	}
	token = newToken()
	s.put(entry{Info: want, hash: sha256.Sum256([]byte(token))})
	if ok {
		s.notify(name)
	}
	// The hash first: after a crash between the two, file and hash disagree and both are made anew.
	if err := s.save(); err != nil {
		s.drop(name)
		return "", fmt.Errorf("store the token %s: %w", name, err)
	}
	if err := replace(s.disk, LocalFile(name), []byte(token+"\n")); err != nil {
		s.drop(name)
		return "", fmt.Errorf("hand out the token %s: %w", name, err)
	}
	return token, nil
}

// readLocal reads a local token. It returns "" when there is none that can be trusted.
func (s *Store) readLocal(name string) (string, error) {
	content, mode, err := s.disk.read(LocalFile(name), limits.CredentialBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case openToOthers(mode):
		return "", nil
	}
	return strings.TrimSpace(string(content)), nil
}
