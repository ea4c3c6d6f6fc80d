// Package modbus simulates a slave of Modbus RTU at 9,600 bits a second, eight bits, one stop bit, after MODBUS Application Protocol
// V1.1b3 and MODBUS over Serial Line V1.02.
//
// # Model
//
// A frame ends with a silence of 3.5 characters (serial line, section 2.5.1.1) and counts if its CRC-16 is right and its address is the
// slave's or 0, which all do and none answers. Functions are 1 to 6, 15 and 16 (application, section 6), on four tables of as many
// entries as the value size says: coils and discrete inputs, holding and input registers. Requests that cannot be done answer with the
// exception codes 1 (function), 3 (quantity or value) and 2 (address), tested in that order as its state diagrams have it. An answer
// begins after the silence that ended the request and arrives as a whole.
//
// # What it refuses
//
// Frames of more than 256 bytes and frames with a wrong checksum are dropped in silence. The rule that 1.5 characters of silence inside a
// frame spoil it is not kept, as most slaves do not keep it. Not modelled: the direction pin of RS-485, ASCII mode, the diagnostic
// functions.
package modbus

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pal-terminal/pal/board/sim/crc"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/serial"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	rate     = 9600
	frameMax = 256
	silence  = 3.5 // characters
	slowness = 2 * time.Second
)

// tables are the four, by the names that settings use.
var tables = [4]string{"coil", "discrete", "holding", "input"}

const (
	coil = iota
	discrete
	holding
	input
)

// Slave is the device. It implements device.UART.
type Slave struct {
	setting.Faults
	port    serial.Port
	address byte
	data    [4][]uint16 // coils and discrete inputs hold 0 or 1
	frame   []byte      // being received; one byte more than fits marks one that is too long
	stop    func()      // ends the wait for the silence
	answer  func()      // ends the wait before an answer

	requests, exceptions, dropped uint64
}

// State is what `pal sim show` prints.
type State struct {
	Address    int            `json:"address"`
	Requests   uint64         `json:"requests"`
	Exceptions uint64         `json:"exceptions"`
	Dropped    uint64         `json:"dropped"` // frames too short, too long or with a wrong checksum
	NonZero    map[string]int `json:"non_zero"`
	Faults     []string       `json:"faults,omitempty"`
}

// New builds a slave. Values: address (1 to 247, usually 1) and size (1 to 65,536 entries a table, usually 256). Settings: coil.N and
// discrete.N (0 or 1), holding.N and input.N (-32,768 to 65,535). Faults: crc (wrong checksums), slow (answers after 2 s), mute (no
// answers), busy (exception 6 to everything).
func New(w device.World, o device.Options) (device.Device, error) {
	s := &Slave{Faults: setting.NewFaults("crc", "slow", "mute", "busy"), port: serial.Port{W: w, Rate: rate}, address: 1}
	size := 256
	if v, ok := o.Values["address"]; ok {
		a, err := setting.Int("address", v, 1, 247)
		if err != nil {
			return nil, err
		}
		s.address = byte(a)
	}
	if v, ok := o.Values["size"]; ok {
		var err error
		if size, err = setting.Int("size", v, 1, 65_536); err != nil {
			return nil, err
		}
	}
	for i := range s.data {
		s.data[i] = make([]uint16, size)
	}
	if err := setting.Apply(s, o.Values, "address", "size"); err != nil {
		return nil, err
	}
	return s, nil
}

// Reset is a power-up: what was being received or said is lost, coils and holding registers are 0, inputs are what they measure.
func (s *Slave) Reset() {
	s.quiet()
	s.frame = s.frame[:0]
	clear(s.data[coil])
	clear(s.data[holding])
	s.requests, s.exceptions, s.dropped = 0, 0, 0
}

// quiet ends both waits.
func (s *Slave) quiet() {
	for _, stop := range [2]func(){s.stop, s.answer} {
		if stop != nil {
			stop()
		}
	}
	s.stop, s.answer = nil, nil
}

// Receive takes bytes and waits for the silence after them.
func (s *Slave) Receive(p []byte) {
	if len(p) == 0 {
		return
	}
	p = s.port.Hears(p)
	s.frame = append(s.frame, p[:min(len(p), frameMax+1-len(s.frame))]...)
	if s.stop != nil {
		s.stop()
	}
	s.stop = s.port.W.At(s.port.W.Now().Add(s.port.Characters(silence)), s.end)
}

// end is the silence after a frame.
func (s *Slave) end() {
	s.stop = nil
	frame := s.frame
	s.frame = s.frame[:0]
	n := len(frame) - 2
	if n < 2 || len(frame) > frameMax || crc.Modbus(frame[:n]) != uint16(frame[n])|uint16(frame[n+1])<<8 {
		s.dropped++
		return
	}
	if frame[0] != s.address && frame[0] != 0 {
		return
	}
	s.requests++
	reply, exception := s.serve(frame[1], frame[2:n])
	if exception != 0 {
		s.exceptions++
		reply = []byte{frame[1] | 0x80, exception}
	}
	if frame[0] == 0 || s.Has("mute") {
		return
	}
	reply = append([]byte{s.address}, reply...)
	sum := crc.Modbus(reply)
	if s.Has("crc") {
		sum ^= 0x5555
	}
	pause := time.Duration(0)
	if s.Has("slow") {
		pause = slowness
	}
	if s.answer != nil {
		s.answer()
	}
	s.answer = s.port.SendAfter(pause, append(reply, byte(sum), byte(sum>>8)))
}

// locate splits the name of an entry, "holding.5".
func (s *Slave) locate(key string) (table, index int, err error) {
	name, number, ok := strings.Cut(key, ".")
	for i, t := range tables {
		if ok && t == name {
			n, err := strconv.Atoi(number)
			if err != nil || n < 0 || n >= len(s.data[i]) {
				return 0, 0, fmt.Errorf("%s: there are %s.0 to %s.%d", key, t, t, len(s.data[i])-1)
			}
			return i, n, nil
		}
	}
	return 0, 0, setting.Unknown(key, "coil.N", "discrete.N", "holding.N", "input.N")
}

// Set changes an entry.
func (s *Slave) Set(key, value string) error {
	table, i, err := s.locate(key)
	if err != nil {
		return err
	}
	lo, hi := 0, 1
	if table >= holding {
		lo, hi = -32_768, 65_535
	}
	v, err := setting.Int(key, value, lo, hi)
	if err == nil {
		s.data[table][i] = uint16(v)
	}
	return err
}

// State returns what to show: of the tables, the entries that are not 0.
func (s *Slave) State() any {
	st := State{
		Address: int(s.address), Requests: s.requests, Exceptions: s.exceptions, Dropped: s.dropped, NonZero: map[string]int{}, Faults: s.Active(),
	}
	for t, name := range tables {
		for i, v := range s.data[t] {
			if v != 0 {
				st.NonZero[name+"."+strconv.Itoa(i)] = int(v)
			}
		}
	}
	return st
}
