package doctor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/supervise/network"
	"github.com/pal-terminal/pal/supervise/niceties"
	"github.com/pal-terminal/pal/supervise/notify"
)

// addClock looks whether tasks of the wall clock can be trusted with it.
func (f *Findings) addClock(now time.Time) {
	err := implausible(now)
	if err == nil {
		err = unsynchronised()
	}
	f.Add("clock", false, err, now.Format(time.RFC3339)+", synchronised")
}

func implausible(now time.Time) error {
	if year := now.UTC().Year(); year < limits.ClockLeastYear || year >= limits.TaskYearsEnd {
		return fmt.Errorf("it says %s: tasks of cron and at wait until it is set", now.Format(time.RFC3339))
	}
	return nil
}

// addSupervision looks at who watches the guard, and at what makes it late less often.
func (f *Findings) addSupervision(o Options) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	supervisor, err := notify.FromEnv(o.Getenv, os.Getpid())
	f.Add("supervisor", false, err, supervised(supervisor))
	detail, err := watchdog(o.Watchdog)
	f.Add("watchdog", o.Watchdog != "", err, detail) // a terminal does not start without the one it was told to use
	f.Add("processors", false, nil, fmt.Sprintf("%d", runtime.NumCPU()))
	for _, n := range niceties.Permitted() {
		switch wanted := o.Realtime || n.Name == niceties.Machines; {
		case !wanted:
			f.Add(n.Name, false, nil, "for `realtime: true` alone: "+n.Why)
		case n.Done:
			f.Add(n.Name, false, nil, n.Why)
		default:
			f.Add(n.Name, false, errors.New(n.Why), "")
		}
	}
}

func supervised(s *notify.Systemd) string {
	switch {
	case s == nil:
		return "none here: under systemd, examples/systemd/pal.service starts a guard that hangs or dies again"
	case s.Timeout() == 0:
		return "systemd, which does not watch: set WatchdogSec"
	case s.Timeout() > limits.WatchdogTimeout:
		return fmt.Sprintf("systemd, watches every %v and will be told %v", s.Timeout(), limits.WatchdogTimeout)
	}
	return fmt.Sprintf("systemd, watches every %v", s.Timeout())
}

// watchdog looks at the hardware's watchdog without opening it.
func watchdog(device string) (string, error) {
	if device == "" {
		const usual = "/dev/watchdog"
		if _, err := os.Stat(usual); err != nil {
			return "this computer has none", nil
		}
		return "there is " + usual + ", unused: with `watchdog: " + usual + "` a guard that hangs resets the computer", nil
	}
	if info, err := os.Stat(device); err != nil {
		return "", fmt.Errorf("%w: load its driver, or softdog", err)
	} else if info.Mode()&os.ModeCharDevice == 0 {
		return "", fmt.Errorf("%s is no device", device)
	}
	if err := mayWrite(device); err != nil {
		return "", fmt.Errorf("%s: %w: see examples/systemd/60-pal.rules", device, err)
	}
	return device + ", may be used", nil
}

// addNetwork looks at the network whose loss the terminal would tell.
func (f *Findings) addNetwork(o Options) {
	state := network.Look(network.Options{Interface: o.Network, Listen: o.Listen}, "")
	var err error
	if !state.Up {
		err = fmt.Errorf("%s: %s", state.Interface, state.Why)
	}
	f.Add("network", false, err, strings.TrimPrefix(state.Interface+": "+state.Why, ": "))
}
