package network

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/limits"
)

const (
	header  = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	onEth0  = "eth0\t00000000\t010011AC\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
	onWlan0 = "wlan0\t00000000\t010011AC\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
	lan     = "eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n"
	none6   = "00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n"
	on6     = "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth1\n"
)

// kernel is a fake of what the kernel tells.
type kernel struct {
	t     *testing.T
	dir   string
	addrs []net.Addr
}

func newKernel(t *testing.T) *kernel {
	return &kernel{t, t.TempDir(), []net.Addr{&net.IPNet{IP: net.IPv4(172, 17, 0, 2), Mask: net.CIDRMask(16, 32)}}}
}

func (k *kernel) write(name, text string) {
	k.t.Helper()
	file := filepath.Join(k.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kernel) iface(name, state, carrier string) {
	k.write(name+"/operstate", state+"\n")
	k.write(name+"/carrier", carrier+"\n")
}

func (k *kernel) options(o Options) Options {
	o.Sys, o.Proc = k.dir, k.dir
	o.Addrs = func(string) ([]net.Addr, error) { return k.addrs, nil }
	return o
}

func TestLook(t *testing.T) {
	link := []net.Addr{
		&net.IPNet{IP: net.ParseIP("fe80::1"), Mask: net.CIDRMask(64, 128)},
		&net.IPNet{IP: net.IPv4(169, 254, 1, 1), Mask: net.CIDRMask(16, 32)},
	}
	for name, c := range map[string]struct {
		prepare func(k *kernel)
		opts    Options
		last    string
		want    State
	}{
		"default route":        {func(*kernel) {}, Options{Listen: "0.0.0.0:1"}, "", State{"eth0", true, "up"}},
		"lowest metric":        {func(k *kernel) { k.write("route", header+onWlan0+lan+onEth0) }, Options{}, "", State{"eth0", true, "up"}},
		"IPv6 alone":           {func(k *kernel) { k.write("route", header+lan); k.write("ipv6_route", none6+on6) }, Options{}, "", State{"eth1", true, "up"}},
		"no route yet":         {func(k *kernel) { k.write("route", header+lan) }, Options{}, "", State{"", true, "there is no default route to watch"}},
		"no route any more":    {func(k *kernel) { k.write("route", header) }, Options{}, "eth0", State{"eth0", false, "no default route"}},
		"route gone with link": {func(k *kernel) { k.write("route", header); k.iface("eth0", "down", "0") }, Options{}, "eth0", State{"eth0", false, "state down"}},
		"loopback":             {func(k *kernel) { k.iface("eth0", "down", "0") }, Options{Listen: "127.0.0.1:7333"}, "", State{"", true, "the terminal listens on this computer alone"}},
		"loopback, IPv6":       {func(*kernel) {}, Options{Listen: "[::1]:7333"}, "", State{"", true, "the terminal listens on this computer alone"}},
		"loopback, by name":    {func(*kernel) {}, Options{Listen: "localhost:7333"}, "", State{"", true, "the terminal listens on this computer alone"}},
		"loopback, configured": {func(k *kernel) { k.iface("eth1", "up", "0") }, Options{Listen: "127.0.0.1:7333", Interface: "eth1"}, "", State{"eth1", false, "no carrier"}},
		"tunnel":               {func(k *kernel) { k.iface("wg0", "unknown", "1") }, Options{Interface: "wg0"}, "", State{"wg0", true, "up"}},
		"off":                  {func(k *kernel) { k.iface("eth0", "down", "") }, Options{Interface: "eth0"}, "", State{"eth0", false, "state down"}},
		"gone":                 {func(*kernel) {}, Options{Interface: "usb0"}, "", State{"usb0", false, "no such interface"}},
		"no name":              {func(*kernel) {}, Options{Interface: "../eth0"}, "", State{"../eth0", false, `"../eth0" is no name of an interface`}},
		"no address":           {func(k *kernel) { k.addrs = nil }, Options{Interface: "eth0"}, "", State{"eth0", false, "no address"}},
		"its own address":      {func(k *kernel) { k.addrs = link }, Options{Interface: "eth0"}, "", State{"eth0", false, "no address"}},
		"damaged table":        {func(k *kernel) { k.write("route", "x\n"+header+"eth0\t0\neth0 00000000 0 zz 0 0 - 00000000\n") }, Options{}, "", State{"", true, "there is no default route to watch"}},
	} {
		k := newKernel(t)
		k.write("route", header+onEth0)
		k.iface("eth0", "up", "1")
		k.iface("eth1", "up", "1")
		c.prepare(k)
		if got := Look(k.options(c.opts), c.last); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestLost unplugs the cable, upon which the route goes, and plugs it in again.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		k.write("route", header)
		k.iface("eth0", "up", "1")
		var heard []string
		w := Start(k.options(Options{Listen: "0.0.0.0:7333", OnChange: func(up bool, iface, why string) {
			heard = append(heard, fmt.Sprint(up, " ", iface, " ", why))
		}}))
		for _, step := range []struct {
			change func()
			up     bool
			heard  []string
		}{
			{func() {}, true, nil},
			{func() { k.write("route", header+onEth0) }, true, nil},
			{func() { k.iface("eth0", "down", "0"); k.write("route", header) }, false, []string{"false eth0 state down"}},
			{func() { k.iface("eth0", "up", "1") }, false, nil},
			{func() { k.write("route", header+onEth0) }, true, []string{"true eth0 up"}},
		} {
			synctest.Wait()
			heard = nil
			step.change()
			for range 2 { // it is told once
				<-time.After(limits.NetworkSweep)
				synctest.Wait()
			}
			if w.Up() != step.up || !slices.Equal(heard, step.heard) {
				t.Errorf("up %v, heard %q, want %v, %q", w.Up(), heard, step.up, step.heard)
			}
		}
		w.Close()
	})
}

func TestDownAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		told := ""
		w := Start(k.options(Options{Interface: "eth9", OnChange: func(up bool, iface, why string) { told = fmt.Sprint(up, " ", iface, " ", why) }}))
		defer w.Close()
		if want := "false eth9 no such interface"; told != want || w.Up() {
			t.Errorf("heard %q, up %v, want %q", told, w.Up(), want)
		}
	})
}

// TestHere looks at this computer's loopback, which every kernel has.
func TestHere(t *testing.T) {
	if got, want := Look(Options{Interface: "lo"}, ""), (State{"lo", false, "no address"}); got != want {
		t.Errorf("got %+v, want %+v: 127.0.0.1 is nothing that others reach", got, want)
	}
}
