package micropython

import (
	"time"
	"unicode/utf8"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// stream is what a job has printed on one of its outputs and has not sent yet.
type stream struct {
	id      hw.Stream
	pending []byte
	room    int  // bytes that may still be kept
	cut     bool // once something was cut nothing more is kept, so that what is kept is a prefix
	dropped int
}

func (s *stream) reset(room int) {
	s.pending, s.room, s.cut, s.dropped = s.pending[:0], room, false, 0
}

// keep appends p as far as there is room and returns what was kept.
func (s *stream) keep(p []byte) {
	if s.cut {
		s.dropped += len(p)
		return
	}
	if len(p) > s.room {
		n := runeBoundary(p, s.room)
		s.dropped += len(p) - n
		s.cut = true
		p = p[:n]
	}
	s.room -= len(p)
	s.pending = append(s.pending, p...)
}

// runeBoundary is the largest length up to n at which p can be cut without splitting a rune. Bytes that are no UTF-8 can be
// cut anywhere.
func runeBoundary(p []byte, n int) int {
	if n >= len(p) {
		return len(p)
	}
	for back := 0; back < utf8.UTFMax && back <= n; back++ {
		if utf8.RuneStart(p[n-back]) {
			if _, size := utf8.DecodeRune(p[n-back:]); size > back {
				return n - back
			}
			return n
		}
	}
	return n
}

// print takes what the program writes to standard output or error.
func (m *machine) print(id hw.Stream, p []byte) {
	s := &m.stdout
	if id == hw.Stderr {
		s = &m.stderr
	}
	m.settle()
	if len(s.pending) == 0 {
		m.pendingSince = time.Now()
	}
	// The other stream goes first, so that the order between the two survives.
	if other := m.otherStream(s); len(other.pending) > 0 {
		m.flush(other)
	}
	s.keep(p)
	if len(s.pending) >= limits.OutputChunk {
		m.flush(s)
	}
}

func (m *machine) otherStream(s *stream) *stream {
	if s == &m.stdout {
		return &m.stderr
	}
	return &m.stdout
}

// flush sends what a stream holds, in records of at most limits.OutputChunk bytes cut between runes where possible.
func (m *machine) flush(s *stream) {
	rest := s.pending
	for len(rest) > 0 {
		n := runeBoundary(rest, limits.OutputChunk)
		m.send(frame.Output{Seq: m.seq, Stream: s.id, Data: rest[:n]})
		rest = rest[n:]
	}
	s.pending = s.pending[:0]
}

func (m *machine) flushAll() {
	m.flush(&m.stdout)
	m.flush(&m.stderr)
}

// flushOld sends output that has waited for longer than limits.OutputFlushPeriod.
func (m *machine) flushOld(now time.Time) {
	if len(m.stdout.pending)+len(m.stderr.pending) > 0 && now.Sub(m.pendingSince) >= limits.OutputFlushPeriod {
		m.flushAll()
	}
}

// openStream is where the engine keeps the descriptor of a standard stream.
type openStream struct{ at, fd uint32 }

// keepOpen notes where the engine keeps the descriptor of one of the three standard streams: in the second word of its object.
func (m *machine) keepOpen(a []record) record {
	s := openStream{at: uint32(a[0].number()) + 4, fd: uint32(a[1].number())}
	if fd, ok := m.eng.mem.ReadUint32Le(s.at); !ok || fd != s.fd {
		panic(fatal{"the engine's standard streams are not where they should be"})
	}
	m.streams = append(m.streams, s)
	return null
}

// openStreams undoes what a program that closed sys.stdout did to all that come after it.
func (m *machine) openStreams() {
	for _, s := range m.streams {
		m.eng.mem.WriteUint32Le(s.at, s.fd)
	}
}
