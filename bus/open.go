package bus

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// open opens a bus by number or by its lines, or opens it again with other settings.
func (g *Gate) open(ctx context.Context, c pin.Caller, text string, data []byte) (hw.Reply, error) {
	kind, number, found := strings.Cut(text, ":")
	if _, known := roles[kind]; !known || !found {
		return hw.Reply{}, bad("", "%.64q is no bus: it must be i2c, spi or uart, a colon and a number", text)
	}
	set, err := parseSettings(kind, data)
	if err != nil {
		return hw.Reply{}, bad(kind+number, "%v", err)
	}
	b, err := g.find(kind, number, set.lines)
	if err != nil {
		return hw.Reply{}, err
	}
	if g.wires == nil {
		return hw.Reply{Errno: enodev, Text: "this board's driver reaches no buses"}, nil
	}
	j := job{drive: g.idleDrives(b), closed: true, within: limits.DriveTimeout}
	if err := g.t.CheckUse(c, b.lines, j.drive); err != nil {
		return hw.Reply{}, err
	}
	if err := b.begin(ctx, false); err != nil {
		return hw.Reply{}, err
	}
	defer b.end()
	if err := b.openNow(ctx, c, set, j); err != nil {
		return hw.Reply{}, err
	}
	return hw.Reply{Value: int64(b.index)}, nil
}

// openNow opens a bus. The caller has the turn.
func (b *bus) openNow(ctx context.Context, c pin.Caller, set settings, j job) error {
	own, err := b.g.t.Claimed(c, b.lines)
	if err != nil {
		return err
	}
	b.mu.Lock()
	open, before := b.open, b.users
	others := slices.DeleteFunc(slices.Clone(before), alike(c))
	equal := b.set.BusSettings == set.BusSettings && b.set.timeout == set.timeout
	if equal && len(others) > 0 && ctx.Err() == nil { // looked at with mu held: whoever ends now is forgotten after this
		b.users = append(others, c)
		b.mu.Unlock()
		return nil
	}
	b.mu.Unlock()
	if len(others) > 0 && !own {
		r := refuse(ebusy, codeConflict, pin.RuleInUse, b.name, "%s is open with other settings, for %s: use the same, or claim it", b.name, others[0].Name)
		r.Holder = others[0].Name
		return r
	}
	if !open {
		free := strings.ToUpper(b.desc.Kind) + ".deinit()"
		release, err := b.g.t.Hold(c, pin.Holding{Name: b.name, Free: free, Drive: j.drive}, b.lines)
		if err != nil {
			return err
		}
		b.mu.Lock()
		b.open, b.release = true, release
		b.mu.Unlock()
	}
	b.mu.Lock()
	b.users, b.kept = append(slices.DeleteFunc(slices.Clone(b.users), alike(c)), c), false
	b.mu.Unlock()
	j.do = func(context.Context) answer { return answer{err: b.g.wires.OpenBus(b.index, set.BusSettings)} }
	_, err = b.perform(ctx, c, j)
	stuck := errors.Is(err, errStuck) && b.closeLater()
	if !stuck && (err != nil && !open || ctx.Err() != nil && len(others) == 0 || b.g.over()) { // who has ended meanwhile leaves nothing open
		b.closeNow()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.set = set
	}
	if (err != nil || ctx.Err() != nil) && !slices.ContainsFunc(before, alike(c)) { // who had it keeps it
		b.users = slices.DeleteFunc(slices.Clone(b.users), alike(c))
	}
	return err
}

// alike matches who uses a bus as one with c: programs of a machine do, but tasks each for itself.
func alike(c pin.Caller) func(pin.Caller) bool {
	return func(u pin.Caller) bool { return u.Machine == c.Machine && u.Task == c.Task }
}

// idleDrives reports whether a bus that is open and silent can drive a line to a level that is not safe: the lines of I2C and of UARTs
// rest high; that of an SPI clock depends on its settings.
func (g *Gate) idleDrives(b *bus) bool {
	return b.desc.Kind == "spi" || slices.ContainsFunc(b.lines, func(h pin.Handle) bool { return g.d.Pins[h].Safe == 0 })
}

// find returns the bus that a program means, which must be one that programs may use.
func (g *Gate) find(kind, number string, lines map[string]string) (*bus, error) {
	want := map[string]int{}
	for _, role := range slices.Sorted(maps.Keys(lines)) {
		h, err := g.t.Resolve(lines[role])
		if f, ok := errors.AsType[*pin.Refusal](err); ok {
			f.Nearest = g.layouts(kind) // not pins that could do something else
			return nil, f
		}
		want[role] = int(h)
	}
	for _, b := range g.buses {
		switch {
		case b.desc.Kind != kind:
		case number == strconv.Itoa(b.desc.Index):
			return b, g.mayOpen(b, want)
		case number == "" && b.desc.Owner == board.OwnerAgent && b.has(want):
			return b, nil
		}
	}
	r := refuse(eacces, codeNotFound, RuleUnknownBus, clip(kind+number), "the board has no bus %s", clip(kind+number))
	if number == "" {
		r = refuse(eacces, codeDenied, RuleLines, kind, "no %s of this board has these lines", kind)
	}
	r.Nearest = g.layouts(kind)
	return nil, r
}

// layouts lists the buses of a kind that programs may use, with their lines.
func (g *Gate) layouts(kind string) []string {
	var list []string
	for _, b := range g.buses {
		if b.desc.Kind == kind && b.desc.Owner == board.OwnerAgent {
			list = append(list, b.name+": "+g.layout(b))
		}
	}
	return list
}

// mayOpen checks owner and lines of a bus that was asked for by its number.
func (g *Gate) mayOpen(b *bus, want map[string]int) error {
	switch {
	case b.desc.Owner == board.OwnerSystem:
		r := refuse(eacces, codeDenied, pin.RuleSystemPin, b.name, "%s belongs to the board itself and is never used by programs", b.name)
		r.Holder = "system"
		return r
	case b.desc.Owner == board.OwnerGuard:
		r := refuse(eacces, codeDenied, pin.RuleGuardPin, b.name, "%s belongs to the guard", b.name)
		r.Holder = "guard"
		return r
	case !b.has(want):
		r := refuse(eacces, codeDenied, RuleLines, b.name, "these are not the lines of %s", b.name)
		r.Nearest = []string{g.layout(b)}
		return r
	}
	return nil
}

// has reports whether the bus has each line in its role.
func (b *bus) has(want map[string]int) bool {
	for role, line := range want {
		if at, ok := b.desc.Pins[role]; !ok || at != line {
			return false
		}
	}
	return true
}

// layout names the lines of a bus as a program would: "sda=6, scl=7".
func (g *Gate) layout(b *bus) string {
	var list []string
	for _, role := range roles[b.desc.Kind] {
		if line, ok := b.desc.Pins[role]; ok {
			list = append(list, role+"="+string(g.d.Pins[line].ID))
		}
	}
	return strings.Join(list, ", ")
}

// clip bounds a name that a program chose.
func clip(name string) string {
	if len(name) > limits.NameBytes {
		return strings.ToValidUTF8(name[:limits.NameBytes], "") + "…"
	}
	return name
}

// at returns the bus of a handle, which may come from hostile code.
func (g *Gate) at(handle uint16, kind string) (*bus, error) {
	if int(handle) >= len(g.buses) || kind != "" && g.buses[handle].desc.Kind != kind {
		return nil, bad("", "handle %d is no %s bus of this board", handle, kind)
	}
	if g.wires == nil || g.buses[handle].desc.Owner != board.OwnerAgent {
		return nil, g.buses[handle].notOpen()
	}
	return g.buses[handle], nil
}

// shut is OpBusClose. Whoever may open a bus may close it, as far as it is open for its own machine; to close it twice does no harm.
func (g *Gate) shut(_ context.Context, c pin.Caller, handle uint16) (hw.Reply, error) {
	b, err := g.at(handle, "")
	if err != nil {
		return hw.Reply{}, err
	}
	_, claimed := g.t.Claimed(c, b.lines)
	if err := cmp.Or(g.t.CheckUse(c, b.lines, false), claimed); err != nil {
		return hw.Reply{}, err
	}
	if b.leave(alike(c)) {
		b.close()
	}
	return hw.Reply{}, nil
}
