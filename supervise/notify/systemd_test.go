package notify

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// supervisor is a real socket that systemd would listen on.
func supervisor(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func hears(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	b := make([]byte, 4096)
	n, err := conn.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestWords(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), "@pal-test-" + strconv.Itoa(os.Getpid())} {
		conn := supervisor(t, name)
		s, err := FromEnv(env("NOTIFY_SOCKET="+name), 1)
		if err != nil {
			t.Fatal(err)
		}
		if s.Timeout() != 0 {
			t.Errorf("a supervisor that does not watch has a timeout of %v", s.Timeout())
		}
		for _, c := range []struct {
			err  error
			want string
		}{
			{s.Ready("at 127.0.0.1:1"), "READY=1\nSTATUS=at 127.0.0.1:1"},
			{s.Status("a\nMAINPID=1 " + strings.Repeat("x", 1000)), "STATUS=a MAINPID=1 " + strings.Repeat("x", limits.StatusTextBytes-12)},
			{s.Stopping(), "STOPPING=1"},
		} {
			if got := hears(t, conn); c.err != nil || got != c.want {
				t.Errorf("got %q (%v), want %q", got, c.err, c.want)
			}
		}
	}
}

func TestFeedsSystemd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	conn := supervisor(t, name)
	s, err := FromEnv(env("NOTIFY_SOCKET="+name, "WATCHDOG_USEC=10000000", "WATCHDOG_PID=77"), 77)
	if err != nil || s.Timeout() != 10*time.Second {
		t.Fatalf("got %v, timeout %v", err, s.Timeout())
	}
	f, err := New(Options{Systemd: s, Period: time.Millisecond, Probes: []Probe{{"p", func(context.Context) error { return nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"WATCHDOG_USEC=7000000", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := hears(t, conn); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if err := f.Close(true); err != nil {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		env     []string
		timeout time.Duration
		bad     bool
	}{
		{nil, 0, false},
		{[]string{"NOTIFY_SOCKET=relative"}, 0, true},
		{[]string{"NOTIFY_SOCKET=/"}, 0, true},
		{[]string{"NOTIFY_SOCKET=/s", "WATCHDOG_USEC=2000000"}, 2 * time.Second, false},
		{[]string{"NOTIFY_SOCKET=/s", "WATCHDOG_USEC=2000000", "WATCHDOG_PID=5"}, 0, false},
		{[]string{"NOTIFY_SOCKET=/s", "WATCHDOG_USEC=0"}, 0, true},
		{[]string{"NOTIFY_SOCKET=/s", "WATCHDOG_USEC=-3"}, 0, true},
		{[]string{"NOTIFY_SOCKET=/s", "WATCHDOG_USEC=9223372036854775807"}, 0, true},
		{[]string{"NOTIFY_SOCKET=/s", "WATCHDOG_USEC=soon"}, 0, true},
	} {
		s, err := FromEnv(env(c.env...), 4)
		if (err != nil) != c.bad || s.Timeout() != c.timeout {
			t.Errorf("%q: got %v, timeout %v, want bad %v, %v", c.env, err, s.Timeout(), c.bad, c.timeout)
		}
	}
	var nobody *Systemd
	if err := nobody.Ready("x"); err != nil {
		t.Errorf("a process that nobody supervises: %v", err)
	}
}
