package task

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a host without zone files must take the briefs that others take

	"github.com/adhocore/gronx"

	"github.com/pal-terminal/pal/limits"
)

// cron is a table of civil times in a time zone.
type cron struct {
	expr string
	loc  *time.Location
}

var (
	cronPart   = regexp.MustCompile(`^(?:\*|([0-9]{1,2})(?:-([0-9]{1,2}))?)(?:/([0-9]{1,2}))?$`)
	cronFields = []struct {
		name           string
		min, max, last int
	}{{"minute", 0, 59, 59}, {"hour", 0, 23, 23}, {"day of month", 1, 31, 31}, {"month", 1, 12, 12}, {"day of week", 0, 7, 6}}
	cronNames = strings.NewReplacer("sun", "0", "mon", "1", "tue", "2", "wed", "3", "thu", "4", "fri", "5", "sat", "6",
		"jan", "1", "feb", "2", "mar", "3", "apr", "4", "may", "5", "jun", "6", "jul", "7", "aug", "8", "sep", "9",
		"oct", "10", "nov", "11", "dec", "12")
)

// parseCron reads five fields. The grammar is checked here: the library's own check looks at a list only up to the part that is due
// at the moment of the check, and takes more than five fields and words that mean other things elsewhere.
func parseCron(text string, loc *time.Location) (*cron, error) {
	fields := strings.Fields(text)
	if len(text) > limits.CronBytes || len(fields) != len(cronFields) {
		return nil, fmt.Errorf("cron must be five fields: minute, hour, day of month, month, day of week; at most %d bytes", limits.CronBytes)
	}
	for i, rule := range cronFields {
		field := fields[i]
		if i >= 3 {
			field = cronNames.Replace(strings.ToLower(field))
		}
		parts := strings.Split(field, ",")
		for k, part := range parts {
			m := cronPart.FindStringSubmatch(part)
			if m == nil {
				return nil, fmt.Errorf("cron: %q is no %s: number, range, list or * with an optional /step", fields[i], rule.name)
			}
			from, to, step := atoi(m[1], rule.min), atoi(m[2], rule.max), atoi(m[3], 1)
			if from < rule.min || from > rule.max || to < from || to > rule.max || step < 1 {
				return nil, fmt.Errorf("cron: %q is out of range for %s, %d to %d", fields[i], rule.name, rule.min, rule.max)
			}
			if m[1] != "" && m[2] == "" && m[3] != "" { // 5/15 is 5-59/15; of a week, the second Sunday is not meant
				parts[k] = fmt.Sprintf("%d-%d/%d", from, max(from, rule.last), step)
			}
		}
		if fields[i] = strings.Join(parts, ","); slices.Contains(parts, "*") {
			fields[i] = "*" // the library would see a restricted field
		}
	}
	c := &cron{expr: strings.Join(fields, " "), loc: loc}
	if c.civil(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, errors.New("cron: no date is like that")
	}
	return c, nil
}

func atoi(text string, empty int) int {
	if text == "" {
		return empty
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// civil returns the next civil time after another, both written as if they were UTC, so that the search knows no daylight saving;
// zero when there is none.
func (c *cron) civil(after time.Time) time.Time {
	t, err := gronx.NextTickAfter(c.expr, after, false)
	if err != nil {
		return time.Time{}
	}
	if due, err := gronx.New().IsDue(c.expr, t); err != nil || !due { // its search ends somewhere when it finds nothing
		return time.Time{}
	}
	return t.Truncate(time.Minute)
}

// instant is the rule for daylight saving, here and nowhere else: a civil time that does not exist is the first instant after the
// gap; one that happens twice is its first occurrence. Several times in one gap are one instant, and run once.
func instant(civil time.Time, loc *time.Location) time.Time {
	y, mo, d := civil.Date()
	t := time.Date(y, mo, d, civil.Hour(), civil.Minute(), 0, 0, loc)
	start, end := t.ZoneBounds()
	if got := asCivil(t); !got.Equal(civil) { // in a gap, on one side of it
		if got.After(civil) {
			return start
		}
		return end
	}
	if !start.IsZero() { // the same civil time before the clocks went back?
		_, now := t.Zone()
		_, before := start.Add(-time.Nanosecond).Zone()
		if twin := t.Add(-time.Duration(before-now) * time.Second); before > now && twin.Before(start) {
			return twin
		}
	}
	return t
}

// asCivil writes down what a clock in t's zone shows, as if it were UTC.
func asCivil(t time.Time) time.Time {
	y, mo, d := t.Date()
	return time.Date(y, mo, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// next returns the first due time after t; zero when there is none.
func (c *cron) next(t time.Time) time.Time {
	civil := asCivil(t.In(c.loc))
	for {
		if civil = c.civil(civil); civil.IsZero() {
			return time.Time{}
		}
		if due := instant(civil, c.loc); due.After(t) {
			return due
		}
	}
}

// missed returns the newest due times after from, up to and with to, and how many there were: of very many, at least so many.
func (c *cron) missed(from, to time.Time) (n uint64, newest []time.Time) {
	for t := c.next(from); !t.IsZero() && !t.After(to); t = c.next(t) {
		if newest = append(newest, t); len(newest) > limits.TaskMissed {
			newest = newest[1:]
		}
		if n++; n == limits.TaskMissedCounted && to.Sub(t) > 25*time.Hour {
			t = to.Add(-25 * time.Hour) // the newest matter, not each of them
		}
	}
	return n, newest
}
