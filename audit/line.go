package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/tlog"
)

// hashLen is the length of a hash as it stands at the start of a line, with the blank after it.
const hashLen = 2*sha256.Size + 1

// link is the chain's hash of a line: of the hash before it and its own text.
func link(prev [32]byte, text []byte) [32]byte {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(text)
	return [32]byte(h.Sum(nil))
}

// point is a place in the log: what has to be known of all before it to go on.
type point struct {
	seq  uint64 // of the newest entry, 0 before the first
	hash [32]byte
	tree []tlog.Hash // compact range of RFC 6962: the roots of the complete subtrees, largest first
}

// add returns the point behind one more line.
func (p point) add(text []byte) point {
	n := point{seq: p.seq + 1, hash: link(p.hash, text), tree: append(slices.Clone(p.tree), tlog.RecordHash(text))}
	for size := n.seq; size&1 == 0; size >>= 1 { // two subtrees of the same size are one
		last := len(n.tree) - 1
		n.tree = append(n.tree[:last-1], tlog.NodeHash(n.tree[last-1], n.tree[last]))
	}
	return n
}

// root is the Merkle root of all entries up to the point.
func (p point) root() tlog.Hash {
	if len(p.tree) == 0 {
		return tlog.Hash(sha256.Sum256(nil))
	}
	r := p.tree[len(p.tree)-1]
	for _, h := range slices.Backward(p.tree[:len(p.tree)-1]) {
		r = tlog.NodeHash(h, r)
	}
	return r
}

// start is the data of the first entry of a segment.
type start struct {
	Prev string   `json:"prev"` // hash of the line before, in hexadecimal
	Tree []string `json:"tree"`
	Note string   `json:"note,omitzero"` // why there is a new one, when it is not only for length
	Lost uint64   `json:"lost,omitzero"` // entries that could not be written before it
}

func (p point) start() start {
	s := start{Prev: hex.EncodeToString(p.hash[:]), Tree: []string{}}
	for _, h := range p.tree {
		s.Tree = append(s.Tree, hex.EncodeToString(h[:]))
	}
	return s
}

// before is the point that a segment begins behind, by its own first entry.
func before(e Entry) (p point, err error) {
	var s start
	if e.Kind != KindSegment || e.Seq == 0 {
		return p, fmt.Errorf("the first entry is of kind %q, want %s", e.Kind, KindSegment)
	}
	if err := json.Unmarshal(e.Data, &s); err != nil {
		return p, fmt.Errorf("the start of the segment: %w", err)
	}
	p.seq = e.Seq - 1
	if p.hash, err = unhex(s.Prev); err != nil {
		return p, err
	}
	for _, text := range s.Tree {
		h, err := unhex(text)
		if err != nil {
			return p, err
		}
		p.tree = append(p.tree, h)
	}
	want := 0
	for n := p.seq; n > 0; n &= n - 1 {
		want++
	}
	if len(p.tree) != want {
		return p, fmt.Errorf("the start of the segment has %d subtrees, want %d", len(p.tree), want)
	}
	return p, nil
}

func unhex(text string) (h [32]byte, err error) {
	if n, err := hex.Decode(h[:], []byte(text[:min(len(text), 64)])); err != nil || n != 32 || len(text) != 64 || hex.EncodeToString(h[:]) != text {
		return h, fmt.Errorf("%.70q is not a hash", text)
	}
	return h, nil
}

// appendLine appends a line with its hash.
func appendLine(buf []byte, hash [32]byte, text []byte) []byte {
	buf = hex.AppendEncode(buf, hash[:])
	buf = append(buf, ' ')
	buf = append(buf, text...)
	return append(buf, '\n')
}

// cutLine takes the first line off data. The text is nil when there is no whole line, or none of the form.
func cutLine(data []byte) (hash [32]byte, text, rest []byte) {
	line, rest, whole := bytes.Cut(data, []byte{'\n'})
	if !whole || len(line) <= hashLen || line[hashLen-1] != ' ' {
		return hash, nil, rest
	}
	hash, err := unhex(string(line[:hashLen-1]))
	if err != nil {
		return hash, nil, rest
	}
	return hash, line[hashLen:], rest
}

// walk reads the lines of a segment behind p, or, for a p of nil, behind the point that its start says, and hands each whose hash and
// number are right to f with the point behind it. It returns the offset of the first byte that it could not take, and why; "" at
// the end.
func walk(data []byte, p *point, f func(p point, text []byte, e Entry) error) (end int64, last point, problem string) {
	if p != nil {
		last = *p
	}
	for rest := data; len(rest) > 0; end = int64(len(data) - len(rest)) {
		hash, text, next := cutLine(rest)
		if text == nil {
			return end, last, "a line is not whole"
		}
		var e Entry
		if err := json.Unmarshal(text, &e, json.RejectUnknownMembers(true)); err != nil {
			return end, last, "a line is no entry"
		}
		if p == nil {
			from, err := before(e)
			if err != nil {
				return end, last, err.Error()
			}
			p, last = &from, from
		}
		behind := last.add(text)
		switch {
		case e.Seq != behind.seq:
			return end, last, fmt.Sprintf("it has the number %d", e.Seq)
		case hash != behind.hash:
			return end, last, "its hash is not that of its text and the line before"
		}
		if f != nil {
			if err := f(behind, text, e); err != nil {
				return end, last, err.Error()
			}
		}
		last, rest = behind, next
	}
	return end, last, ""
}
