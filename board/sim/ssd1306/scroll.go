package ssd1306

import "time"

// intervals are the frames between two steps by the three bits of the scroll commands.
var intervals = [8]int{5, 64, 128, 256, 3, 4, 25, 2}

// scroll is the continuous scroll of table 9-2. The horizontal part moves the RAM, the vertical part what is shown of it.
type scroll struct {
	active    bool
	left      bool
	sideways  bool
	low, high int // pages
	interval  int // frames
	step      int // rows a step
	top, rows int // area of the vertical part (A3)
	shift     int // rows moved so far
	since     time.Time
}

func (s *scroll) configure(c byte, arg []byte) {
	s.left = c == 0x27 || c == 0x2A
	s.low, s.interval, s.high = int(arg[1]&7), intervals[arg[2]&7], int(arg[3]&7)
	s.sideways, s.step = true, 0
	if c == 0x29 || c == 0x2A {
		s.step = int(arg[4] & 0x3F)
	}
}

// shifted returns the row that the vertical part puts in a row's place.
func (s *scroll) shifted(row int) int {
	if s.shift == 0 || row < s.top || row >= s.top+s.rows {
		return row
	}
	return (s.top + (row-s.top+s.shift)%s.rows) % rows
}

// settle does the steps that have fallen due.
func (d *Display) settle() {
	s := &d.scroll
	if !s.active || s.interval == 0 {
		return
	}
	each := time.Duration(s.interval) * d.frame()
	steps := int64(d.w.Now().Sub(s.since) / each)
	if steps <= 0 {
		return
	}
	s.since = s.since.Add(time.Duration(steps) * each)
	if s.rows > 0 {
		s.shift = int((int64(s.shift) + steps%int64(s.rows)*int64(s.step)) % int64(s.rows))
	}
	if !s.sideways {
		return
	}
	by := int(steps % columns) // columns to the right, as the program counts them
	if s.left != d.segRemap {
		by = columns - by
	}
	for page := s.low; page <= s.high; page++ {
		var moved [columns]byte
		for i, b := range d.ram[page] {
			moved[(i+by)%columns] = b
		}
		d.ram[page] = moved
	}
}
