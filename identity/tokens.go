package identity

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// fileName is the token file in the state folder.
const fileName = "tokens.json"

// fileVersion is the format of the token file.
const fileVersion = 1

// fileBytesPerToken bounds the token file: a row is about 300 bytes, the longest name included.
const fileBytesPerToken = 1 << 10

// tokenFile is the content of the token file.
type tokenFile struct {
	Version int        `json:"version"`
	Tokens  []tokenRow `json:"tokens"`
}

// tokenRow is one token in the file.
type tokenRow struct {
	Name      string  `json:"name"`
	Class     Class   `json:"class"`
	Scopes    []Scope `json:"scopes"`
	Ask       bool    `json:"ask,omitzero"`
	CreatedMS int64   `json:"created_ms"`
	ExpiresMS int64   `json:"expires_ms,omitzero"`
	SHA256    string  `json:"sha256"`
}

// load reads the token file. It trusts a file only as a whole.
func load(d disk) (map[string]entry, error) {
	content, mode, err := d.read(fileName, (limits.Tokens+1)*fileBytesPerToken)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return map[string]entry{}, nil
	case err != nil:
		return nil, err
	case openToOthers(mode):
		return nil, fmt.Errorf("%w: its mode is %#o, so others could have changed it; look at it, then chmod 600", ErrDamaged, mode.Perm())
	}
	var f tokenFile
	if err := json.Unmarshal(content, &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w; restore it, or remove it to start with new tokens", ErrDamaged, err)
	}
	if f.Version != fileVersion {
		return nil, fmt.Errorf("%w: format %d, this version knows %d", ErrDamaged, f.Version, fileVersion)
	}
	if len(f.Tokens) > limits.Tokens {
		return nil, fmt.Errorf("%w: %d tokens, at most %d are allowed", ErrDamaged, len(f.Tokens), limits.Tokens)
	}
	entries := make(map[string]entry, len(f.Tokens))
	for i, row := range f.Tokens {
		e, err := row.entry()
		if err != nil {
			return nil, fmt.Errorf("%w: tokens[%d]: %w", ErrDamaged, i, err)
		}
		if _, twice := entries[e.Name]; twice {
			return nil, fmt.Errorf("%w: tokens[%d]: second token with the name %s", ErrDamaged, i, e.Name)
		}
		entries[e.Name] = e
	}
	return entries, nil
}

// store writes the token file.
func store(d disk, entries []entry) error {
	f := tokenFile{Version: fileVersion, Tokens: make([]tokenRow, 0, len(entries))}
	for _, e := range entries {
		row := tokenRow{
			Name: e.Name, Class: e.Class, Scopes: e.Scopes, Ask: e.Ask,
			CreatedMS: e.Created.UnixMilli(), SHA256: hex.EncodeToString(e.hash[:]),
		}
		if !e.Expires.IsZero() {
			row.ExpiresMS = e.Expires.UnixMilli()
		}
		f.Tokens = append(f.Tokens, row)
	}
	content, err := json.Marshal(f, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return replace(d, fileName, append(content, '\n'))
}

// entry checks a row of the file.
func (r tokenRow) entry() (entry, error) {
	e := entry{Info: Info{
		Name: r.Name, Class: r.Class, Scopes: r.Scopes, Ask: r.Ask, Created: time.UnixMilli(r.CreatedMS),
	}}
	if r.ExpiresMS < 0 {
		return entry{}, fmt.Errorf("%w: expires_ms %d", ErrInvalid, r.ExpiresMS)
	}
	if r.ExpiresMS > 0 {
		e.Expires = time.UnixMilli(r.ExpiresMS)
	}
	if err := e.validate(); err != nil {
		return entry{}, err
	}
	hash, err := hex.DecodeString(r.SHA256)
	if err != nil || len(hash) != len(e.hash) {
		return entry{}, fmt.Errorf("%w: sha256 must be %d hexadecimal digits", ErrInvalid, 2*len(e.hash))
	}
	copy(e.hash[:], hash)
	return e, nil
}

// validName is what tokens may be called: readable in logs, tables, paths and shells without quoting. Their length is not its
// affair: a counted repetition takes longer to compile than all else that a new machine's process has to set up.
var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]*$`)

// validate refuses what no token may be.
func (i Info) validate() error {
	if len(i.Name) > limits.NameBytes || !validName.MatchString(i.Name) {
		return fmt.Errorf("%w: name %.100q: use 1 to %d of a-z 0-9 _ . -, the first a letter or digit", ErrInvalid, i.Name, limits.NameBytes)
	}
	if !slices.Contains([]Class{Human, Agent, Service, Hub}, i.Class) {
		return fmt.Errorf("%w: class %q: use human, agent, service or hub", ErrInvalid, i.Class)
	}
	if len(i.Scopes) == 0 {
		return fmt.Errorf("%w: a token needs a scope: read, exec, actuate or admin", ErrInvalid)
	}
	for n, scope := range i.Scopes {
		if !slices.Contains([]Scope{Read, Exec, Actuate, Admin}, scope) {
			return fmt.Errorf("%w: scope %q: use read, exec, actuate or admin", ErrInvalid, scope)
		}
		if slices.Contains(i.Scopes[:n], scope) {
			return fmt.Errorf("%w: scope %q twice", ErrInvalid, scope)
		}
	}
	if i.Class == Agent && slices.Contains(i.Scopes, Admin) {
		return fmt.Errorf("%w: an agent cannot hold the admin scope", ErrInvalid)
	}
	return nil
}

// openToOthers reports whether a file's mode lets other users at it. Windows has no such modes.
func openToOthers(mode fs.FileMode) bool {
	return runtime.GOOS != "windows" && mode.Perm()&0o077 != 0
}
