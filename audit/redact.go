package audit

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// redacted stands for what must not be written.
const redacted = "[redacted]"

// secretName are names of fields and variables whose values are secrets: the long words with anything before them, the short ones as
// a word of their own, so that a compass is none.
const secretName = `(?:[a-z0-9_.-]*(?:password|passwd|passphrase|secret|token|(?:api|access|private)[_-]?key|authorization|credentials?)` +
	`|(?:[a-z0-9]+[_-])*\b(?:[a-z0-9]+[_-])*(?:pass|auth|psk|pwd))(?:_?(?:key|value|text|str|bytes|hex|b64)|[_-]?[0-9]+)?`

var (
	secretField = regexp.MustCompile(`(?i)^` + secretName + `$`)
	// name = "value", name: str = 'value', ["name"] == value, \"name\": \"value\"; as in Python, JSON, shells and addresses. A text that was cut
	// may lack the closing quote.
	secretValue = regexp.MustCompile(`(?i)(` + secretName + `[\\"'\])]*\s*(?::\s*\w+\s*=|[:=!]?=|:)\s*\(?\s*)` +
		`((?:basic|bearer|digest|token)\s+[^\s"',;]+|[brfu]{0,2}(?:"""(?s:.*?)(?:"""|$)|'''(?s:.*?)(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\\+"[^"\n]*"?|\\+'[^'\n]*'?)` +
		`|[^\s"',;&)}\]]+)`)
	bearer   = regexp.MustCompile(`(?i)(bearer\s+)[A-Za-z0-9._~+/=-]+`)
	ownToken = regexp.MustCompile(`pal_[A-Za-z0-9_-]{20,}`)
)

// clean returns an entry without secrets that can be written, and the bytes it takes.
func (l *Log) clean(e Entry) (Entry, int) {
	words := slices.SortedFunc(slices.Values(l.o.Secrets()), func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	for _, text := range []*string{&e.Kind, &e.Type, &e.Actor, &e.Class, &e.Trace, &e.Hash} {
		*text = scrub(*text, words, limits.NameBytes+limits.IDBytes)
	}
	for _, text := range []*string{&e.Client, &e.ID} { // what a request is known by again must stay what it is, "token=7" too
		for _, w := range words {
			if len(w) >= 4 {
				*text = strings.ReplaceAll(*text, w, redacted)
			}
		}
		*text = ownToken.ReplaceAllString(strings.ToValidUTF8((*text)[:min(len(*text), 2*limits.IDBytes)], "\uFFFD"), redacted)
	}
	if e.Data != nil {
		data, err := scrubData(e.Data, words)
		if err != nil {
			data = fmt.Appendf(nil, `{"error":"the data could not be read","bytes":%d}`, len(e.Data))
		}
		e.Data = data
	}
	text, err := json.Marshal(e, json.Deterministic(true))
	switch {
	case err != nil: // such as two names that became the same: one entry must not stop the log
		e.Data = fmt.Appendf(nil, `{"error":"the data could not be written","bytes":%d}`, len(e.Data))
	case len(text) > limits.AuditEntryBytes:
		e.Data = fmt.Appendf(nil, `{"too_long":%d}`, len(e.Data))
	}
	return e, min(len(text), limits.AuditEntryBytes) + overhead
}

// overhead is at least what a line has besides the text that clean measures: hash, number and time.
const overhead = hashLen + 64

// hints are parts of words, one of which stands in every text that ownToken, bearer or secretValue matches.
var hints = []string{"pass", "secret", "token", "key", "auth", "credential", "psk", "pwd", "bearer", "pal_"}

// suspicious reports whether a text has to be looked at closely, which takes a hundred times as long. Letters beyond ASCII are let
// through to that: some of them are the same as others to a search that does not mind the case.
func suspicious(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(lower, h) }) ||
		strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// scrub takes secrets out of a text and cuts it.
func scrub(text string, words []string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for _, w := range words {
		if len(w) >= 4 {
			text = strings.ReplaceAll(text, w, redacted)
		}
	}
	if suspicious(text) {
		text = ownToken.ReplaceAllString(text, redacted)
		text = bearer.ReplaceAllString(text, "${1}"+redacted)
		text = secretValue.ReplaceAllString(text, "${1}"+redacted)
	}
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
