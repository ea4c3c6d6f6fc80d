// Package network watches the interface through which a terminal is reached.
//
// # Model
//
// A [Watcher] looks every limits.NetworkSweep whether the interface is up, has a carrier and an address that others can reach. Without a
// configured one it is that of the default route, remembered when the route goes with the cable. What is reachable on this
// computer alone has no network to lose, and neither has a terminal that never had a default route: both are never told lost.
//
// It reads what the kernel tells and sends nothing, so it does not see a network that is lost further away.
package network

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// Options say what to watch. All may be left empty.
type Options struct {
	Interface string // configured; else that of the default route
	Listen    string // the terminal's address, HOST:PORT; loopback is not watched unless Interface is set
	// OnChange hears of every change, and of an interface that is down at the first look. It must return soon.
	OnChange func(up bool, iface, why string)

	Sys, Proc string                                 // folders of the kernel, for tests; /sys/class/net and /proc/net
	Addrs     func(iface string) ([]net.Addr, error) // of an interface, for tests
}

// State is what a look found.
type State struct {
	Interface string // empty: nothing to watch
	Up        bool
	Why       string
}

// Watcher looks until Close.
type Watcher struct {
	opts   Options
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	state  State
}

// Start looks once and goes on looking.
func Start(o Options) *Watcher {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{opts: o, cancel: cancel, state: State{Up: true}}
	w.sweep()
	w.wg.Go(func() {
		tick := time.NewTicker(limits.NetworkSweep)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.sweep()
			case <-ctx.Done():
				return
			}
		}
	})
	return w
}

// Close ends the watching.
func (w *Watcher) Close() {
	w.cancel()
	w.wg.Wait()
}

// Up tells whether the network was there at the last look; true when there is none to watch.
func (w *Watcher) Up() bool { return w.State().Up }

// State returns what the last look found.
func (w *Watcher) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

func (w *Watcher) sweep() {
	before := w.State()
	now := Look(w.opts, before.Interface)
	w.mu.Lock()
	w.state = now
	w.mu.Unlock()
	if now.Up != before.Up && w.opts.OnChange != nil {
		w.opts.OnChange(now.Up, now.Interface, now.Why)
	}
}

// Look looks once. last is the interface of the look before, which stays when there is no default route any more.
func Look(o Options, last string) State {
	if o.Sys == "" {
		o.Sys = "/sys/class/net"
	}
	if o.Proc == "" {
		o.Proc = "/proc/net"
	}
	if o.Addrs == nil {
		o.Addrs = addrs
	}
	name := o.Interface
	if name == "" {
		if loopback(o.Listen) {
			return State{Up: true, Why: "the terminal listens on this computer alone"}
		}
		name = defaultRoute(o.Proc)
		routed := name != ""
		if !routed {
			name = last
		}
		if name == "" {
			return State{Up: true, Why: "there is no default route to watch"}
		}
		if !routed {
			if why := o.down(name); why != "" {
				return State{name, false, why}
			}
			return State{name, false, "no default route"}
		}
	}
	if why := o.down(name); why != "" {
		return State{name, false, why}
	}
	return State{name, true, "up"}
}

// down returns why an interface cannot be used, empty when it can.
func (o *Options) down(name string) string {
	if name != filepath.Base(name) || name == ".." || name == "." {
		return fmt.Sprintf("%q is no name of an interface", name)
	}
	operstate, err := read(filepath.Join(o.Sys, name, "operstate"))
	if err != nil {
		return "no such interface"
	}
	carrier, _ := read(filepath.Join(o.Sys, name, "carrier")) // cannot be read while the interface is off
	switch state := strings.TrimSpace(operstate); {
	case state != "up" && state != "unknown": // some drivers and all tunnels do not know
		return "state " + state
	case strings.TrimSpace(carrier) != "1":
		return "no carrier"
	}
	all, err := o.Addrs(name)
	if err != nil {
		return "addresses: " + err.Error()
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().IsGlobalUnicast() {
			return ""
		}
	}
	return "no address"
}

func addrs(name string) ([]net.Addr, error) {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	return i.Addrs()
}

// loopback tells whether an address is reachable on this computer alone.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

const (
	routeUp     = 0x1
	routeReject = 0x200
)

// defaultRoute returns the interface of the default route with the lowest metric, IPv4 before IPv6.
func defaultRoute(proc string) string {
	const none4, none6 = "00000000", "00000000000000000000000000000000"
	name := best(filepath.Join(proc, "route"), func(f []string) (string, string, string, bool) {
		return f[0], f[6], f[3], f[1] == none4 && f[7] == none4
	}, 8, 10)
	if name != "" {
		return name
	}
	return best(filepath.Join(proc, "ipv6_route"), func(f []string) (string, string, string, bool) {
		return f[9], f[5], f[8], f[0] == none6 && f[1] == "00"
	}, 10, 16)
}

// best reads a routing table; pick returns interface, metric and flags of a line of at least fields fields, and whether it is a default.
func best(file string, pick func([]string) (iface, metric, flags string, is bool), fields, base int) (name string) {
	text, _ := read(file) // a kernel without the protocol has none
	var lowest uint64
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < fields {
			continue
		}
		iface, metric, flags, is := pick(f)
		m, err := strconv.ParseUint(metric, base, 64)
		bits, flagErr := strconv.ParseUint(flags, 16, 64)
		if !is || err != nil || flagErr != nil || bits&routeUp == 0 || bits&routeReject != 0 || iface == "lo" {
			continue
		}
		if name == "" || m < lowest {
			name, lowest = iface, m
		}
	}
	return name
}

func read(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(io.LimitReader(f, limits.NetworkFile))
	return string(b), err
}
