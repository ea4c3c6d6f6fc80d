package ds3231

import (
	"math"
	"time"
)

// Bits of the registers of hours, months and alarms.
const (
	twelve    = 0x40
	afternoon = 0x20
	century   = 0x80
	masked    = 0x80 // of an alarm register: it does not take part
	weekday   = 0x40 // of an alarm's day: of the week, not of the month
)

func round(v float64) int { return int(math.Round(v)) }

func fromBCD(b byte) int { return int(b>>4)*10 + int(b&15) }

func toBCD(v int) byte { return byte(v/10<<4 | v%10) }

// hour reads a register of hours in either form.
func hour(b byte) int {
	if b&twelve == 0 {
		return fromBCD(b & 0x3F)
	}
	h := fromBCD(b&0x1F) % 12
	if b&afternoon != 0 {
		h += 12
	}
	return h
}

// civil is the time of the registers. What is no date becomes the one it overflows to.
func (c *Clock) civil() time.Time {
	year := 2000 + fromBCD(c.reg[regYear])
	if c.reg[regMonth]&century != 0 {
		year += 100
	}
	return time.Date(year, time.Month(fromBCD(c.reg[regMonth]&0x1F)), fromBCD(c.reg[regDate]), hour(c.reg[regHours]),
		fromBCD(c.reg[regMinutes]), fromBCD(c.reg[regSeconds]), 0, time.UTC)
}

// store writes the time to the registers; the weekday moves on by the days since from.
func (c *Clock) store(from, to time.Time) {
	h := toBCD(to.Hour())
	if c.reg[regHours]&twelve != 0 {
		h = twelve | toBCD((to.Hour()+11)%12+1)
		if to.Hour() >= 12 {
			h |= afternoon
		}
	}
	month := toBCD(int(to.Month()))
	if to.Year()/100%2 == 1 { // the bit toggles when the years overflow
		month |= century
	}
	days := int(midnight(to).Sub(midnight(from)) / (24 * time.Hour))
	day := byte((int(c.reg[regDay])+6+days%7)%7 + 1)
	copy(c.reg[:], []byte{toBCD(to.Second()), toBCD(to.Minute()), h, day, toBCD(to.Day()), month, toBCD(to.Year() % 100)})
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// next returns the first time after from that an alarm matches, table 2, and whether there is one within some months.
func (c *Clock) next(alarm int, from time.Time) (time.Time, bool) {
	seconds := byte(0) // alarm 2 has none: at the full minute
	fields := c.reg[regAlarm2:regControl]
	if alarm == regAlarm1 {
		seconds, fields = c.reg[regAlarm1], c.reg[regAlarm1+1:regAlarm2]
	}
	if !possible(seconds) || !possible(fields[0]) || fields[1]&masked == 0 && hour(fields[1]) > 23 {
		return time.Time{}, false // most of three months would be searched in seconds
	}
	t := from.Add(time.Second)
	for end := from.AddDate(0, 3, 0); t.Before(end); {
		switch {
		case !c.day(fields[2], from, t):
			t = midnight(t).AddDate(0, 0, 1)
		case fields[1]&masked == 0 && hour(fields[1]&0x7F) != t.Hour():
			t = t.Truncate(time.Hour).Add(time.Hour)
		case fields[0]&masked == 0 && fromBCD(fields[0]&0x7F) != t.Minute():
			t = t.Truncate(time.Minute).Add(time.Minute)
		case seconds&masked == 0 && fromBCD(seconds&0x7F) != t.Second():
			t = t.Add(time.Second)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}

// possible tells whether a field of seconds or minutes can match at all.
func possible(field byte) bool { return field&masked != 0 || fromBCD(field) < 60 }

// day tells whether an alarm's register of days matches at t, the registers showing from.
func (c *Clock) day(field byte, from, t time.Time) bool {
	switch {
	case field&masked != 0:
		return true
	case field&weekday == 0:
		return fromBCD(field&0x3F) == t.Day()
	}
	days := int(midnight(t).Sub(midnight(from)) / (24 * time.Hour))
	return int(field&0x0F) == (int(c.reg[regDay])+6+days)%7+1
}
