package station

import (
	"context"
	"os"

	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/supervise/network"
	"github.com/pal-terminal/pal/supervise/niceties"
	"github.com/pal-terminal/pal/supervise/notify"
	"github.com/pal-terminal/pal/supervise/start"
)

// overseer is what watches over the terminal itself.
type overseer struct {
	systemd *notify.Systemd
	feeder  *notify.Feeder
	network *network.Watcher
	stable  *start.StableTimer
	nice    []niceties.Nicety
	end     context.CancelFunc
}

// oversee starts to feed the watchdogs, which end this process when it hangs: from the moment in which the outputs are safe.
func (s *Station) oversee(context.Context) (err error) {
	w := &s.overseer
	o := niceties.Options{Realtime: s.cfg.Settings.Realtime}
	w.nice = niceties.Apply(o)
	for _, n := range w.nice {
		s.cfg.Log.Info("nicety", "name", n.Name, "done", n.Done, "why", n.Why)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.end = cancel
	go niceties.Keep(ctx, o) // until end
	if w.systemd, err = notify.FromEnv(os.Getenv, os.Getpid()); err != nil {
		return err
	}
	w.feeder, err = notify.New(notify.Options{
		Systemd: w.systemd, Device: s.cfg.Settings.Watchdog, Log: s.cfg.Log, OnState: s.hung,
		Probes: []notify.Probe{
			{Name: "admission", Check: s.probe},
			{Name: "outputs", Check: func(context.Context) error { return s.table.Check() }},
		},
	})
	return err
}

// probe asks the door, and the tasks behind it, for a sign of life.
func (s *Station) probe(ctx context.Context) error {
	if c := s.running.Load(); c != nil {
		return c.Probe(ctx)
	}
	return nil // not made yet
}

// hung writes down, while it still can be, why the watchdog will end this run.
func (s *Station) hung(name string, err error) {
	ending := ""
	if err != nil {
		ending = store.Watchdog
		s.cfg.Log.Error("the guard's own watchdog is not fed", "probe", name, "err", err)
	}
	if err := s.durable.Ending(ending); err != nil {
		s.cfg.Log.Error("write down how this run ends", "err", err)
	}
}

// watchNetwork tells of the network that the terminal is reached by.
func (s *Station) watchNetwork() {
	s.overseer.network = network.Start(network.Options{
		Interface: s.cfg.Settings.Network, Listen: s.cfg.Settings.Listen,
		OnChange: func(up bool, iface, why string) {
			name := "connection_lost"
			if up {
				name = "connection_restored"
			}
			s.ring.Emit(name, map[string]any{"interface": iface, "why": why, "connections": s.core.Connections()})
		},
	})
	s.overseer.stable = start.NewStableTimer(s.overseer.network.Up, s.durable.Stable, s.cfg.Log)
}

// close ends the watching; orderly disarms a watchdog's device.
func (w *overseer) close(orderly bool) (err error) {
	if w.stable != nil {
		w.stable.Close()
	}
	if w.network != nil {
		w.network.Close()
	}
	if w.feeder != nil {
		err = w.feeder.Close(orderly)
	}
	if w.end != nil {
		w.end()
	}
	return err
}
