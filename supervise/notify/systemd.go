package notify

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// Systemd is the socket on which the supervisor listens. Its methods are safe for concurrent use, and on a nil Systemd, which is
// a process that nobody supervises, they do nothing.
type Systemd struct {
	addr    net.UnixAddr
	timeout time.Duration
}

// FromEnv finds the supervisor of process pid in its environment: nil when there is none.
func FromEnv(getenv func(string) string, pid int) (*Systemd, error) {
	path := getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil, nil
	}
	if path[0] != '/' && path[0] != '@' || len(path) < 2 {
		return nil, fmt.Errorf("NOTIFY_SOCKET: %q is neither a path nor an abstract socket", path)
	}
	s := &Systemd{addr: net.UnixAddr{Name: path, Net: "unixgram"}}
	if other := getenv("WATCHDOG_PID"); other != "" && other != strconv.Itoa(pid) {
		return s, nil
	}
	text := getenv("WATCHDOG_USEC")
	if text == "" {
		return s, nil
	}
	usec, err := strconv.ParseInt(text, 10, 64)
	if err != nil || usec <= 0 || usec > int64(time.Duration(1<<63-1)/time.Microsecond) {
		return nil, fmt.Errorf("WATCHDOG_USEC: %q is no time", text)
	}
	s.timeout = time.Duration(usec) * time.Microsecond
	return s, nil
}

// Timeout is after what silence the supervisor ends this process; 0 when it does not watch.
func (s *Systemd) Timeout() time.Duration {
	if s == nil {
		return 0
	}
	return s.timeout
}

// Ready tells that the terminal serves.
func (s *Systemd) Ready(status string) error { return s.send("READY=1", "STATUS="+line(status)) }

// Status is a line for people who ask how the terminal is.
func (s *Systemd) Status(text string) error { return s.send("STATUS=" + line(text)) }

// Stopping tells that the terminal ends in an orderly way.
func (s *Systemd) Stopping() error { return s.send("STOPPING=1") }

// send opens the socket anew each time, since a supervisor that is replaced makes another. It fails rather than wait for long.
func (s *Systemd) send(words ...string) error {
	if s == nil {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &s.addr)
	if err != nil {
		return err
	}
	err = conn.SetWriteDeadline(time.Now().Add(limits.WatchdogProbe))
	if err == nil {
		_, err = conn.Write([]byte(strings.Join(words, "\n")))
	}
	return errors.Join(err, conn.Close())
}

// line makes text one line that is not too long: each line of a message is a word of its own to the supervisor.
func line(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), limits.StatusTextBytes)], "")
}

func (s *Systemd) name() string { return "systemd" }

func (s *Systemd) feed() error { return s.send("WATCHDOG=1") }

// arm makes the supervisor's patience d when it would wait longer.
func (s *Systemd) arm(d time.Duration) (time.Duration, error) {
	if s.timeout <= d {
		return s.timeout, nil
	}
	return d, s.send("WATCHDOG_USEC=" + strconv.FormatInt(d.Microseconds(), 10))
}

func (s *Systemd) close(bool) error { return nil }
