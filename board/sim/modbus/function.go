package modbus

import "encoding/binary"

// Exception codes: application protocol, section 7.
const (
	illegalFunction = 1
	illegalAddress  = 2
	illegalValue    = 3
	deviceBusy      = 6
)

// serve does a request and returns its answer, without address and checksum, or an exception.
func (s *Slave) serve(function byte, p []byte) (reply []byte, exception byte) {
	if s.Has("busy") {
		return nil, deviceBusy
	}
	switch function {
	case 1, 2, 3, 4, 5, 6, 15, 16:
	default:
		return nil, illegalFunction
	}
	if len(p) < 4 {
		return nil, illegalValue
	}
	at, value := int(binary.BigEndian.Uint16(p)), int(binary.BigEndian.Uint16(p[2:]))
	switch function {
	case 1:
		return s.readBits(function, coil, at, value, len(p))
	case 2:
		return s.readBits(function, discrete, at, value, len(p))
	case 3:
		return s.readWords(function, holding, at, value, len(p))
	case 4:
		return s.readWords(function, input, at, value, len(p))
	case 5, 6:
		exception = s.writeOne(function, at, value, len(p))
	default:
		exception = s.writeMany(function, at, value, p[4:])
	}
	return append([]byte{function}, p[:4]...), exception
}

// check is the tests that reads have in common.
func (s *Slave) check(table, at, count, most, length int) byte {
	switch {
	case count < 1 || count > most || length != 4:
		return illegalValue
	case at+count > len(s.data[table]):
		return illegalAddress
	}
	return 0
}

func (s *Slave) readBits(function byte, table, at, count, length int) ([]byte, byte) {
	if e := s.check(table, at, count, 2000, length); e != 0 {
		return nil, e
	}
	n := (count + 7) / 8
	reply := make([]byte, 2+n)
	reply[0], reply[1] = function, byte(n)
	for i, v := range s.data[table][at : at+count] {
		reply[2+i/8] |= byte(v) << (i % 8)
	}
	return reply, 0
}

func (s *Slave) readWords(function byte, table, at, count, length int) ([]byte, byte) {
	if e := s.check(table, at, count, 125, length); e != 0 {
		return nil, e
	}
	reply := []byte{function, byte(2 * count)}
	for _, v := range s.data[table][at : at+count] {
		reply = binary.BigEndian.AppendUint16(reply, v)
	}
	return reply, 0
}

// writeOne is functions 5 and 6.
func (s *Slave) writeOne(function byte, at, value, length int) byte {
	table := holding
	if function == 5 {
		table = coil
		if value != 0 && value != 0xFF00 {
			return illegalValue
		}
		value &= 1 << 8 // 0xFF00 has it
		value >>= 8
	}
	switch {
	case length != 4:
		return illegalValue
	case at >= len(s.data[table]):
		return illegalAddress
	}
	s.data[table][at] = uint16(value)
	return 0
}

// writeMany is functions 15 and 16; p is the byte count and the values.
func (s *Slave) writeMany(function byte, at, count int, p []byte) byte {
	table, most, bytes := holding, 123, 2*count
	if function == 15 {
		table, most, bytes = coil, 1968, (count+7)/8
	}
	switch {
	case count < 1 || count > most || len(p) != 1+bytes || int(p[0]) != bytes:
		return illegalValue
	case at+count > len(s.data[table]):
		return illegalAddress
	}
	for i := range count {
		if function == 15 {
			s.data[table][at+i] = uint16(p[1+i/8] >> (i % 8) & 1)
		} else {
			s.data[table][at+i] = binary.BigEndian.Uint16(p[1+2*i:])
		}
	}
	return 0
}
