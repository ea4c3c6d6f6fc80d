package w25q64

// frame is what has come since the chip was selected.
type frame struct {
	selected bool
	ignored  bool // nothing is heard or said until the chip select rises
	n        int  // bytes so far
	opcode   byte
	at       int // address
	buffer   [page]byte
	given    [page]bool // which bytes of buffer have come
	data     int        // bytes of data so far
}

// lead returns how many bytes of an instruction come before its data: opcode, address and dummies.
func lead(opcode byte) int {
	switch opcode {
	case 0x03, 0x02, 0x20, 0x52, 0xD8, 0x90, 0xAB:
		return 4
	case 0x0B, 0x4B:
		return 5
	}
	return 1
}

// Select follows the chip select line. Rising, it starts what was framed.
func (f *Flash) Select(on bool) {
	if on == f.selected {
		return
	}
	if on {
		f.frame = frame{selected: true}
		return
	}
	f.selected = false
	if !f.ignored && f.n > 0 {
		f.execute()
	}
}

// Transfer takes and gives bytes. tx and rx may be the same memory.
func (f *Flash) Transfer(tx, rx []byte) {
	if !f.selected {
		fill(rx)
		return
	}
	for i := 0; i < len(tx); {
		if f.n > 0 && !f.ignored && f.n >= lead(f.opcode) {
			f.stream(tx[i:], tail(rx, i))
			f.n += len(tx) - i
			return
		}
		b := tx[i]
		if rx != nil {
			rx[i] = 0xFF
		}
		switch {
		case f.n == 0:
			f.begin(b)
		case f.n < 4:
			f.at = f.at<<8 | int(b)
		}
		f.n++
		i++
	}
}

func tail(p []byte, i int) []byte {
	if p == nil {
		return nil
	}
	return p[i:]
}

func fill(p []byte) {
	for i := range p {
		p[i] = 0xFF
	}
}

// begin takes an opcode and decides whether it is heard.
func (f *Flash) begin(opcode byte) {
	f.opcode = opcode
	switch {
	case f.down:
		f.ignored = opcode != 0xAB
	case !f.idle():
		f.ignored = opcode != 0x05 && opcode != 0x35 && opcode != 0x15 && opcode != 0x66 && opcode != 0x99
	}
	if !f.ignored && opcode != 0x99 {
		f.resetting = false // the two come one after the other, or not at all
	}
}

// stream is the part of an instruction after its lead: data in or out, as much as comes.
func (f *Flash) stream(tx, rx []byte) {
	switch f.opcode {
	case 0x03, 0x0B:
		if rx == nil {
			f.at = (f.at + len(tx)) & address
			return
		}
		f.at = f.copyOut(f.at&address, rx)
	case 0x02:
		for _, b := range tx {
			i := (f.at + f.data) % page
			f.buffer[i], f.given[i] = b, true
			f.data++
		}
		fill(rx)
	case 0x01, 0x31, 0x11:
		for _, b := range tx {
			if f.data < page {
				f.buffer[f.data] = b
				f.data++
			}
		}
		fill(rx)
	default:
		for i := range rx {
			rx[i] = f.answer(f.n - lead(f.opcode) + i)
		}
		if rx == nil {
			f.data += len(tx)
		}
	}
}

// answer is byte i of what a short read says.
func (f *Flash) answer(i int) byte {
	switch f.opcode {
	case 0x05:
		return f.register(0)
	case 0x35:
		return f.register(1)
	case 0x15:
		return f.register(2)
	case 0x9F:
		if id := [3]byte{manufacturer, jedecHigh, jedecLow}; i < len(id) {
			return id[i]
		}
	case 0x90: // address 1 begins with the device
		return [2]byte{manufacturer, deviceID}[(f.at+i)&1]
	case 0xAB:
		return deviceID
	case 0x4B:
		if i < len(f.unique) {
			return f.unique[i]
		}
	}
	return 0xFF
}

// execute does what was framed, when the chip select rises.
func (f *Flash) execute() {
	at := f.at & address
	switch alone := f.n == 1; {
	case f.opcode == 0x06 && alone:
		f.latch = true
	case f.opcode == 0x04 && alone:
		f.latch = false
	case f.opcode == 0xB9 && alone:
		f.down = true
	case f.opcode == 0xAB:
		f.down = false
	case f.opcode == 0x66 && alone:
		f.resetting = true
	case f.opcode == 0x99 && alone && f.resetting:
		f.Reset()
	}
	if !f.latch {
		return
	}
	// Erases must end right after their address, or nothing happens.
	switch whole := f.n == 4; {
	case f.opcode == 0x02 && f.data > 0:
		f.program(at, &f.buffer, &f.given)
	case f.opcode == 0x20 && whole:
		f.erase(at, sector, sectorTime)
	case f.opcode == 0x52 && whole:
		f.erase(at, half, halfTime)
	case f.opcode == 0xD8 && whole:
		f.erase(at, block, blockTime)
	case (f.opcode == 0xC7 || f.opcode == 0x60) && f.n == 1:
		f.erase(0, Size, chipTime)
	case f.opcode == 0x01 && (f.data == 1 || f.data == 2):
		f.writeStatus(0, f.buffer[:f.data])
	case f.opcode == 0x31 && f.data == 1:
		f.writeStatus(1, f.buffer[:1])
	case f.opcode == 0x11 && f.data == 1:
		f.writeStatus(2, f.buffer[:1])
	}
}
