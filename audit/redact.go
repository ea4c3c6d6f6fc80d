package audit

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// redacted stands for what must not be written.
const redacted = "[redacted]"

// secretNames are names of fields and variables whose values are secrets.
const secretNames = `pass(?:word|wd|phrase)?|secret|token|api_?key|access_?key|private_?key|auth(?:orization)?|credentials?|psk|pwd`

var (
	secretField = regexp.MustCompile(`(?i)^(?:[a-z0-9]+[_-])*(?:` + secretNames + `)$`)
	// name = "value", "name": 'value', name=value; as in Python, JSON, shells and addresses.
	secretValue = regexp.MustCompile(`(?i)((?:[a-z0-9]+[_-])*\b(?:[a-z0-9]+[_-])*(?:` + secretNames + `)["']?\s*[:=]\s*)(b?"[^"\n]*"|b?'[^'\n]*'|[^\s"',;&)}\]]+)`)
	bearer      = regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/=-]+`)
	ownToken    = regexp.MustCompile(`pal_[A-Za-z0-9_-]{20,}`)
)

// clean returns an entry without secrets and of bounded length.
func (l *Log) clean(e Entry) Entry {
	words := l.o.Secrets()
	for _, text := range []*string{&e.Type, &e.Actor, &e.Class, &e.Client, &e.ID, &e.Trace} {
		*text = scrub(*text, words, limits.NameBytes+limits.IDBytes)
	}
	if e.Data == nil {
		return e
	}
	data, err := scrubData(e.Data, words)
	switch {
	case err != nil:
		data = fmt.Appendf(nil, `{"error":"the data could not be read","bytes":%d}`, len(e.Data))
	case len(data) > limits.AuditEntryBytes:
		data = fmt.Appendf(nil, `{"too_long":%d}`, len(data))
	}
	e.Data = data
	return e
}

// scrub takes secrets out of a text and cuts it.
func scrub(text string, words []string, limit int) string {
	for _, w := range words {
		if len(w) >= 4 {
			text = strings.ReplaceAll(text, w, redacted)
		}
	}
	text = ownToken.ReplaceAllString(text, redacted)
	text = bearer.ReplaceAllString(text, "${1}"+redacted)
	text = secretValue.ReplaceAllString(text, "${1}"+redacted)
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:limit], ""), len(text))
}

// scrubData takes secrets out of every string of a JSON object, names included, and out of whatever a secret's name stands before.
func scrubData(data jsontext.Value, words []string) (jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	for dec.PeekKind() > 0 {
		if secret(dec) && !slices.Contains([]jsontext.Kind{'n', 't', 'f', '}', ']'}, dec.PeekKind()) {
			if err := dec.SkipValue(); err != nil {
				return nil, err
			}
			if err := enc.WriteToken(jsontext.String(redacted)); err != nil {
				return nil, err
			}
			continue
		}
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if tok.Kind() == '"' {
			tok = jsontext.String(scrub(tok.String(), words, limits.AuditCodeBytes))
		}
		if err := enc.WriteToken(tok); err != nil {
			return nil, err
		}
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// secret reports whether the decoder stands before a value whose name is that of a secret.
func secret(dec *jsontext.Decoder) bool {
	kind, n := dec.StackIndex(dec.StackDepth())
	if kind != '{' || n%2 == 0 {
		return false
	}
	return secretField.MatchString(dec.StackPointer().LastToken())
}
