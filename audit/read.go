package audit

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// Page returns the texts of entries after since, at most so many and so much as fits an answer; more says that there are others.
func (l *Log) Page(since uint64, limit int) (list []jsontext.Value, more bool, err error) {
	l.files.RLock()
	defer l.files.RUnlock()
	upto := l.Head().Size
	names, err := segments(l.d, l.dir)
	if err != nil {
		return nil, false, err
	}
	total := 0
	for i, name := range names {
		if i+1 < len(names) {
			if next, _ := firstOf(names[i+1]); next <= since+1 {
				continue
			}
		}
		data, err := l.read(name)
		if err != nil {
			return nil, false, err
		}
		for len(data) > 0 {
			var text []byte
			if _, text, data = cutLine(data); text == nil {
				break
			}
			seq := seqOf(text)
			if seq <= since || seq > upto {
				continue
			}
			if total += len(text); len(list) == limit || total > limits.MessageBytes/2 && len(list) > 0 {
				return list, true, nil
			}
			list = append(list, bytes.Clone(text))
		}
	}
	return list, false, nil
}

// seqOf reads the number of an entry whose text begins with it, as the texts of the log do; 0 for any other.
func seqOf(text []byte) uint64 {
	rest, ok := bytes.CutPrefix(text, []byte(`{"seq":`))
	if !ok {
		return 0
	}
	digits, _, _ := bytes.Cut(rest, []byte{','})
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0
	}
	return seq
}

// Trace returns the texts of the entries of a trace, oldest first, as many as fit an answer.
func (l *Log) Trace(trace string) (list []jsontext.Value, err error) {
	l.files.RLock()
	defer l.files.RUnlock()
	names, err := segments(l.d, l.dir)
	if err != nil {
		return nil, err
	}
	quoted, err := jsontext.AppendQuote(nil, trace)
	if err != nil {
		return nil, err
	}
	word := append([]byte(`"trace":`), quoted...)
	total := 0
	for _, name := range names {
		data, err := l.read(name)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(data, word) {
			continue
		}
		for len(data) > 0 {
			var text []byte
			if _, text, data = cutLine(data); text == nil {
				break
			}
			var e Entry
			if !bytes.Contains(text, word) || json.Unmarshal(text, &e) != nil || e.Trace != trace { // the word may stand in its data
				continue
			}
			if total += len(text); total > limits.MessageBytes/2 && len(list) > 0 {
				return list, nil
			}
			list = append(list, bytes.Clone(text))
		}
	}
	return list, nil
}
