package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
)

// Names of the keys in the log's folder. The public file holds one key a line, the newest last: keys of before still verify what
// they signed.
const (
	keyFile    = "audit.key"
	publicFile = "audit.pub"
)

// loadKey returns the terminal's signing key and the public one, made when there is none. fresh says that older entries may have been
// signed by another.
func loadKey(d store.Disk, dir, terminal string) (signer note.Signer, public string, fresh bool, err error) {
	text, err := store.Read(d, dir+"/"+keyFile, limits.StateFileBytes)
	if err == nil {
		signer, err = note.NewSigner(strings.TrimSpace(string(text)))
	}
	if err == nil {
		known, err := publicKeys(d, dir)
		if public := publicOf(signer, known); public != "" {
			return signer, public, false, nil
		}
		if err != nil {
			return nil, "", false, err
		}
		fresh = true // what nobody could verify is not signed with it
	} else if !errors.Is(err, fs.ErrNotExist) {
		fresh = true // one that cannot be used is replaced, and verification keeps the old public one
	}
	private, public, err := note.GenerateKey(rand.Reader, keyName(terminal))
	if err != nil {
		return nil, "", false, err
	}
	known, err := publicKeys(d, dir)
	if err != nil {
		return nil, "", false, err
	}
	fresh = fresh || len(known) > 0
	list := strings.Join(append(known, public), "\n") + "\n"
	// The public key first: a key that nobody can verify signs nothing.
	if err := errors.Join(store.Replace(d, dir+"/"+publicFile, []byte(list)), store.Replace(d, dir+"/"+keyFile, []byte(private+"\n"))); err != nil {
		return nil, "", false, fmt.Errorf("keep the key of the audit log: %w", err)
	}
	signer, err = note.NewSigner(private)
	return signer, public, fresh, err
}

// publicOf finds the public key of a signer, "" when it is not there.
func publicOf(signer note.Signer, known []string) string {
	for _, public := range slices.Backward(known) {
		if v, err := note.NewVerifier(public); err == nil && v.Name() == signer.Name() && v.KeyHash() == signer.KeyHash() {
			return public
		}
	}
	return ""
}

// lookAtKeys tells of keys that cannot be used, and keeps their bytes, before others take their place.
func (l *Log) lookAtKeys() {
	files := map[string][]byte{}
	for _, name := range []string{keyFile, publicFile} {
		if data, err := store.Read(l.d, l.dir+"/"+name, limits.StateFileBytes); err == nil {
			files[name] = data
		}
	}
	if len(files) == 0 { // the first start
		return
	}
	if signer, err := note.NewSigner(strings.TrimSpace(string(files[keyFile]))); err == nil && publicOf(signer, strings.Fields(string(files[publicFile]))) != "" {
		return
	}
	l.o.Damaged("the signing key, or the list of public ones that it belongs in: a new key is made")
	for name, data := range files {
		if err := l.aside(name, data); err != nil {
			l.log.Error("keep a damaged key of the audit log", "err", err)
		}
	}
}

func publicKeys(d store.Disk, dir string) ([]string, error) {
	text, err := store.Read(d, dir+"/"+publicFile, limits.StateFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Fields(string(text)), err
}

// keyName makes a name that a signed note takes of a terminal's: without blanks and plus signs.
func keyName(terminal string) string {
	name := strings.Map(func(r rune) rune {
		if r < '!' || r > '~' || r == '+' {
			return '-'
		}
		return r
	}, terminal)
	return "pal/" + name
}

// sign makes a checkpoint: a signed note over the tree of all entries up to p.
func sign(signer note.Signer, p point) (string, error) {
	text, err := note.Sign(&note.Note{Text: string(tlog.FormatTree(tlog.Tree{N: int64(p.seq), Hash: p.root()}))}, signer)
	return string(text), err
}

// checkNote says what is wrong with a checkpoint over the entries up to p; "" when nothing is.
func checkNote(text string, keys note.Verifiers, p point) string {
	n, err := note.Open([]byte(text), keys)
	if err != nil {
		return "the checkpoint's signature: " + err.Error()
	}
	tree, err := tlog.ParseTree([]byte(n.Text))
	switch {
	case err != nil:
		return "the checkpoint: " + err.Error()
	case tree.N != int64(p.seq):
		return fmt.Sprintf("the checkpoint is over %d entries, want %d", tree.N, p.seq)
	case tree.Hash != p.root():
		return "the root that was signed is not that of the entries"
	}
	return ""
}
