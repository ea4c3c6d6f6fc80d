package frame

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// ends returns both sides' ends of fresh memory: what the machine writes, the guard reads.
func ends() (mem []byte, in *Reader, out *Writer) {
	mem = make([]byte, SharedBytes)
	in, _ = Rings(mem, true)
	_, out = Rings(mem, false)
	return mem, in, out
}

// Bytes come out as they went in, whatever the sizes of writes and reads, many times around the ring.
func TestRingKeepsBytes(t *testing.T) {
	_, in, out := ends()
	random := rand.New(rand.NewPCG(1, 2))
	sent, got := byte(0), byte(0)
	buf := make([]byte, 2*limits.RingBytes)
	for total := 0; total < 20*limits.RingBytes; {
		p := buf[:random.IntN(len(buf))]
		for i := range p {
			p[i] = sent + byte(i)
		}
		n, err := out.Write(p)
		if err != nil || n > limits.RingBytes {
			t.Fatalf("Write: got %d, %v, want at most %d bytes", n, err, limits.RingBytes)
		}
		sent += byte(n)
		n, err = in.Read(buf[:random.IntN(len(buf))])
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range buf[:n] {
			if b != got {
				t.Fatalf("byte %d: got %d, want %d", total, b, got)
			}
			got++
		}
		total += n
	}
}

func TestRingFullAndEmpty(t *testing.T) {
	_, in, out := ends()
	p := make([]byte, limits.RingBytes+1)
	if n, err := in.Read(p); n != 0 || err != nil {
		t.Errorf("Read of nothing: got %d, %v, want 0", n, err)
	}
	if n, err := out.Write(p); n != limits.RingBytes || err != nil {
		t.Errorf("Write of too much: got %d, %v, want %d", n, err, limits.RingBytes)
	}
	if n, err := out.Write(p); n != 0 || err != nil {
		t.Errorf("Write into a full ring: got %d, %v, want 0", n, err)
	}
	if n, err := in.Read(p[:1]); n != 1 || err != nil {
		t.Errorf("Read: got %d, %v, want 1", n, err)
	}
	if n, err := out.Write(p); n != 1 || err != nil {
		t.Errorf("Write after a byte was read: got %d, %v, want 1", n, err)
	}
}

// The two directions share no byte.
func TestRingsAreApart(t *testing.T) {
	mem := make([]byte, SharedBytes)
	guardIn, guardOut := Rings(mem, true)
	in, out := Rings(mem, false)
	up, down := bytes.Repeat([]byte{1}, limits.RingBytes), bytes.Repeat([]byte{2}, limits.RingBytes)
	for _, w := range []struct {
		to *Writer
		p  []byte
	}{{out, up}, {guardOut, down}} {
		if n, err := w.to.Write(w.p); n != len(w.p) || err != nil {
			t.Fatalf("Write: got %d, %v", n, err)
		}
	}
	for _, r := range []struct {
		from *Reader
		want []byte
	}{{guardIn, up}, {in, down}} {
		got := make([]byte, limits.RingBytes)
		if n, err := r.from.Read(got); n != len(got) || err != nil || !bytes.Equal(got, r.want) {
			t.Errorf("Read: got %d, %v and other bytes than were written", n, err)
		}
	}
}

// Whatever cursor the other side sets, an end takes it or refuses it, and reads and writes nothing but the ring. One that it
// refuses lies where no honest side comes to.
func TestRingRefusesCursors(t *testing.T) {
	const size = limits.RingBytes
	for _, tail := range []uint64{10 + size + 1, 9, 0, 1 << 40, 1 << 63, ^uint64(0)} { // ten bytes were read
		mem, in, out := ends()
		if _, err := out.Write(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if n, err := in.Read(make([]byte, 20)); n != 10 || err != nil {
			t.Fatalf("Read: got %d, %v", n, err)
		}
		binary.NativeEndian.PutUint64(mem, tail)
		if n, err := in.Read(make([]byte, 20)); n != 0 || !errors.Is(err, ErrRing) {
			t.Errorf("tail %d: got %d, %v, want ErrRing", tail, n, err)
		}
	}
	for _, head := range []uint64{size + 1, 9, 0, 1 << 40, 1 << 63, ^uint64(0)} { // ten bytes were seen to be read
		mem, in, out := ends()
		buf := make([]byte, size)
		if _, err := out.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Read(buf[:10]); err != nil {
			t.Fatal(err)
		}
		if n, err := out.Write(buf); n != 10 || err != nil {
			t.Fatalf("Write: got %d, %v, want 10", n, err)
		}
		binary.NativeEndian.PutUint64(mem[cacheLine:], head+map[bool]uint64{true: 10}[head == size+1])
		if n, err := out.Write(buf); n != 0 || !errors.Is(err, ErrRing) {
			t.Errorf("head %d: got %d, %v, want ErrRing", head, n, err)
		}
	}
}

// FuzzRingReader lets the other side set the tail and the bytes as it likes between the guard's reads.
func FuzzRingReader(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{255, 0, 1, 0}, limits.RingBytes), 1))
	f.Fuzz(func(t *testing.T, said []byte) {
		mem, in, _ := ends()
		var read uint64
		for len(said) >= 12 {
			room := int(binary.LittleEndian.Uint32(said)) % (2 * limits.RingBytes)
			tail := binary.LittleEndian.Uint64(said[4:])
			said = said[12:]
			binary.NativeEndian.PutUint64(mem, tail)
			copy(mem[ringHeader:], said)
			n, err := in.Read(make([]byte, room))
			if err != nil {
				if !errors.Is(err, ErrRing) || n != 0 {
					t.Fatalf("Read: got %d, %v, want ErrRing", n, err)
				}
				return
			}
			if n > room || n > limits.RingBytes {
				t.Fatalf("Read: got %d bytes into %d", n, room)
			}
			read += uint64(n)
			if got := binary.NativeEndian.Uint64(mem[cacheLine:]); got != read {
				t.Fatalf("head: got %d, want %d", got, read)
			}
		}
	})
}

// A byte of a ping is answered by a pong's, over and over, with a bell for each wake-up: were one lost, both would sleep for
// ever.
func TestRingLosesNoWakeUp(t *testing.T) {
	const turns = 50_000
	mem := make([]byte, SharedBytes)
	type side struct {
		in       *Reader
		out      *Writer
		bell     chan struct{}
		theirs   chan struct{}
		sleeps   int
		overtook int
	}
	bells := [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}
	receive := func(s *side, patience int) byte {
		var b [1]byte
		for {
			n, err := s.in.Read(b[:])
			if err != nil {
				t.Error(err)
				return 0
			}
			if n == 1 {
				return b[0]
			}
			if patience--; patience > 0 {
				continue
			}
			if !s.in.Sleep() {
				s.overtook++
				continue
			}
			s.sleeps++
			<-s.bell
			s.in.Awake()
		}
	}
	send := func(s *side, b byte) {
		if n, err := s.out.Write([]byte{b}); n != 1 || err != nil {
			t.Errorf("Write: got %d, %v", n, err)
		}
		if s.out.Wake() {
			select {
			case s.theirs <- struct{}{}:
			default: // one waits there already
			}
		}
	}
	sides := [2]*side{}
	for i := range sides {
		s := &side{bell: bells[i], theirs: bells[1-i]}
		s.in, s.out = Rings(mem, i == 0)
		sides[i] = s
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range turns {
			send(sides[1], receive(sides[1], i%7))
		}
	}()
	late := time.AfterFunc(time.Minute, func() { panic("a wake-up was lost") })
	defer late.Stop()
	for i := range turns {
		send(sides[0], byte(i))
		if got := receive(sides[0], i%5); got != byte(i) {
			t.Fatalf("turn %d: got %d back", i, got)
		}
	}
	<-done
	t.Logf("sleeps %d and %d, overtaken %d and %d", sides[0].sleeps, sides[1].sleeps, sides[0].overtook, sides[1].overtook)
}

// Posting without a rest loses no wake-up either: the reader sleeps at every chance and the writer only stops at a full ring.
func TestRingStream(t *testing.T) {
	_, in, out := ends()
	bell := make(chan struct{}, 1)
	const total = 8 * limits.RingBytes
	go func() {
		p := make([]byte, 45)
		for sent := 0; sent < total; {
			for i := range p {
				p[i] = byte(sent + i)
			}
			n, err := out.Write(p[:min(len(p), total-sent)])
			if err != nil {
				t.Error(err)
				return
			}
			sent += n
			if out.Wake() {
				select {
				case bell <- struct{}{}:
				default:
				}
			}
		}
	}()
	late := time.AfterFunc(time.Minute, func() { panic("a wake-up was lost") })
	defer late.Stop()
	buf := make([]byte, 1000)
	for got := 0; got < total; {
		n, err := in.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range buf[:n] {
			if b != byte(got+i) {
				t.Fatalf("byte %d: got %d, want %d", got+i, b, byte(got+i))
			}
		}
		if got += n; n == 0 && in.Sleep() {
			<-bell
			in.Awake()
		}
	}
}

func BenchmarkRingPost(b *testing.B) {
	_, in, out := ends()
	rec := make([]byte, 45)
	buf := make([]byte, 128<<10)
	for b.Loop() {
		n, err := out.Write(rec)
		if err != nil {
			b.Fatal(err)
		}
		if n < len(rec) {
			if _, err := in.Read(buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}
