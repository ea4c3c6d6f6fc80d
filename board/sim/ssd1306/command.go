package ssd1306

// length returns how many bytes a command has with its arguments.
func length(c byte) int {
	switch c {
	case 0x20, 0x81, 0x8D, 0xA8, 0xD3, 0xD5, 0xD9, 0xDA, 0xDB:
		return 2
	case 0x21, 0x22, 0xA3:
		return 3
	case 0x29, 0x2A:
		return 6
	case 0x26, 0x27:
		return 7
	}
	return 1
}

// take collects a command and does it when it is complete.
func (d *Display) take(b byte) {
	if d.have == 0 {
		d.need = length(b)
	}
	d.command[d.have] = b
	d.have++
	if d.have < d.need {
		return
	}
	d.have = 0
	d.settle()
	switch c := d.command[0]; {
	case c < 0x10:
		d.pageColumn(d.column&0x70 | int(c))
	case c < 0x20:
		d.pageColumn(d.column&0x0F | int(c&7)<<4)
	case c < 0x30:
		d.address(c, d.command[1:])
	case c >= 0x40 && c < 0x80:
		d.start = int(c & 0x3F)
	case c >= 0xB0 && c < 0xB8:
		if d.mode == paged {
			d.page = int(c & 7)
		}
	case c >= 0xC0 && c < 0xD0:
		d.comRemap = c&8 != 0
	default:
		d.configure(c, d.command[1])
	}
}

// pageColumn is commands 00 to 1F, which are for page addressing alone.
func (d *Display) pageColumn(column int) {
	if d.mode == paged {
		d.column = column
	}
}

// address is commands 20 to 2F: where data goes, and scrolling.
func (d *Display) address(c byte, arg []byte) {
	switch c {
	case 0x20:
		if arg[0]&3 <= paged {
			d.mode = int(arg[0] & 3)
		}
	case 0x21:
		d.colLow, d.colHigh = int(arg[0]&0x7F), int(arg[1]&0x7F)
		d.column = d.colLow
	case 0x22:
		d.pageLow, d.pageEnd = int(arg[0]&7), int(arg[1]&7)
		d.page = d.pageLow
	case 0x26, 0x27, 0x29, 0x2A:
		d.scroll.configure(c, arg)
	case 0x2E:
		d.scroll.active, d.scroll.shift = false, 0
	case 0x2F:
		d.scroll.active, d.scroll.since = true, d.w.Now()
	}
}

// configure is the commands that concern what is shown of the RAM, and how.
func (d *Display) configure(c, arg byte) {
	switch c {
	case 0x81:
		d.contrast = arg
	case 0x8D:
		d.pump = arg&4 != 0
	case 0xA0, 0xA1:
		d.segRemap = c == 0xA1
	case 0xA3:
		d.scroll.top, d.scroll.rows = int(arg&0x3F), int(d.command[2]&0x7F)
	case 0xA4, 0xA5:
		d.allOn = c == 0xA5
	case 0xA6, 0xA7:
		d.inverse = c == 0xA7
	case 0xA8:
		if n := int(arg&0x3F) + 1; n >= 16 { // 0 to 14 are invalid
			d.mux = n
		}
	case 0xAE, 0xAF:
		d.on = c == 0xAF
	case 0xD3:
		d.offset = int(arg & 0x3F)
	case 0xD5:
		d.clock = arg
	case 0xD9:
		d.precharge = arg
	case 0xDA:
		d.alternative, d.exchange = arg&0x10 != 0, arg&0x20 != 0
	}
}
