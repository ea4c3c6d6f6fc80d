//go:build unix

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
	"github.com/pal-terminal/pal/test/terminal"
)

// Disk full or read-only under a running terminal: nothing is driven that cannot be recorded, by whom and how ever; looking works; so
// does the e-stop. On a full disk its latch gets to the disk all the same, in place. When space returns, so does all else.
func TestDiskFullOrReadOnly(t *testing.T) {
	for name, set := range map[string]func(*crash.Disk, bool){"disk full": (*crash.Disk).Full, "disk read-only": (*crash.Disk).ReadOnly} {
		t.Run(name, func(t *testing.T) {
			disk := crash.New(1)
			dir := t.TempDir()
			r := start(t, terminal.Options{Disk: disk, Dir: dir})
			fan := r.task(r.agent, "FAN = Pin('FAN', Pin.OUT)\nFAN.toggle()", every("fan", 30*time.Millisecond, drives("FAN")))
			endless := r.dial(r.Agent)
			go endless.Exec(t.Context(), protocol.Exec{Code: "RELAY.on()\nwhile True:\n  try: LED.toggle()\n  except OSError: pass", TimeoutMS: new(int64(60_000))}) // it is ended with its connection
			eventually(t, "the program drives", func() bool { return r.level("RELAY") == 1 })
			eventually(t, "the task drives", func() bool { return r.level("FAN") == 1 })

			at := time.Now()
			set(disk, true)
			r.waitEvent("storage", map[string]any{"what": "audit", "lost": true})
			within(t, name+": told", time.Since(at), 2*time.Second)
			r.storageHolds(name, endless, fan)

			if err := r.agent.Stop(r.ctx(), "on a bad disk"); err != nil {
				t.Errorf("stop: %v", err)
			}
			r.wantSafe("after the stop")
			onDisk := func() bool {
				_, found, err := store.OpenLatch(disk.Restart(7), "estop", true)
				return err == nil && found.Set && found.Reason == "on a bad disk"
			}
			if full := name == "disk full"; full != onDisk() {
				t.Errorf("the latch is on the disk: %v, want %v", !full, full)
			}
			at = time.Now()
			set(disk, false)
			r.waitEvent("storage", map[string]any{"what": "audit", "lost": false})
			within(t, name+": again", time.Since(at), 2*time.Second)
			eventually(t, "the latch is on the disk", onDisk)
			if err := r.human.EstopClear(r.ctx(), "space"); err != nil {
				t.Fatal(err)
			}
			r.run(r.agent, "LED.on()")
			r.wantLevel("with space", "LED", 1)
			if _, err := r.human.Resume(r.ctx(), fan); err != nil {
				t.Fatal(err)
			}
			runs := r.info(fan).Runs
			eventually(t, "the task goes on", func() bool { return r.info(fan).Runs > runs })
			report, err := r.human.Audit(r.ctx(), protocol.Audit{Op: "verify"})
			if err != nil || report.Report == nil || report.Report.Problem != "" {
				t.Errorf("audit verify: got %+v, %v", report.Report, err)
			}
		})
	}
}

// storageHolds checks what a terminal does while it cannot record.
func (r *rig) storageHolds(row string, endless *client.Client, fan string) {
	r.t.Helper()
	eventually(r.t, "the task is held", func() bool { return r.info(fan).State == "held" })
	runs, level, led := r.info(fan).Runs, r.level("FAN"), r.level("LED")
	r.runsReading(row)
	for _, how := range []struct {
		what string
		do   func() (*protocol.Result, error)
	}{
		{"pin_set by a person", func() (*protocol.Result, error) { return r.human.PinSet(r.ctx(), "VALVE", 0) }},
		{"pin_set", func() (*protocol.Result, error) { return r.agent.PinSet(r.ctx(), "VALVE", 0) }},
	} {
		res, err := how.do()
		if code, _ := outcome(res, err); code != protocol.CodeStorage || !code.Retryable() {
			r.t.Errorf("%s: got %+v, %v, want storage, which may be tried again", how.what, res, err)
		}
	}
	if r.level("LED") != led {
		r.t.Error("the program that runs still drives")
	}
	endless.Close()
	eventually(r.t, "the program has ended", func() bool { return !running(r) })
	res := r.exec(r.agent, protocol.Exec{Code: "Pin('VALVE', Pin.OUT).off()"})
	if res.Code != protocol.CodeStorage || res.Exception == nil || res.Exception.Class != "OSError" {
		r.t.Errorf("exec: got %+v %+v, want OSError with storage", res, res.Exception)
	}
	if _, err := r.agent.Register(r.ctx(), protocol.Register{Brief: new(every("new", time.Second)), Code: "pass"}); err == nil {
		r.t.Error("register is accepted")
	} else if code, _ := refusal(err); code != protocol.CodeStorage {
		r.t.Errorf("register: got %v, want storage", err)
	}
	r.wantLevel("while nothing can be recorded", "VALVE", 1)
	if now := r.info(fan); now.Runs > runs+1 || r.level("FAN") != level {
		r.t.Errorf("the task: got %d runs, FAN %d, after %d and %d", now.Runs, r.level("FAN"), runs, level)
	}
	status, err := r.human.Status(r.ctx())
	if err != nil || status.Storage == "" {
		r.t.Errorf("status: got storage %q, %v", status.Storage, err)
	}
}

// runsReading checks that everything that only looks works.
func (r *rig) runsReading(row string) {
	r.t.Helper()
	at := time.Now()
	if err := r.agent.Ping(r.ctx()); err != nil {
		r.t.Error(err)
	}
	if _, err := r.agent.Describe(r.ctx()); err != nil {
		r.t.Error(err)
	}
	if pins, err := r.agent.Pins(r.ctx()); err != nil || len(pins.Pins) == 0 {
		r.t.Errorf("pins: %v", err)
	}
	if res, err := r.agent.PinRead(r.ctx(), "TEMP"); err != nil || string(res.Value) != "310" {
		r.t.Errorf("pin_read: got %+v, %v", res, err)
	}
	if _, err := r.human.Audit(r.ctx(), protocol.Audit{Op: "tail"}); err != nil {
		r.t.Errorf("audit tail: %v", err)
	}
	if report, err := r.human.Audit(r.ctx(), protocol.Audit{Op: "verify"}); err != nil || report.Report == nil || report.Report.Problem != "" {
		r.t.Errorf("audit verify: got %+v, %v", report, err)
	}
	within(r.t, row+": looking at all", time.Since(at), time.Second)
}

// A sync that fails once is as a full disk: nothing that was said to be done is lost, and the terminal goes on by itself.
func TestFailedSync(t *testing.T) {
	disk := crash.New(2)
	r := start(t, terminal.Options{Disk: disk})
	disk.FailSync(1)
	res, err := r.agent.PinSet(r.ctx(), "LED", 1)
	if code, _ := outcome(res, err); code != protocol.CodeStorage {
		t.Errorf("got %+v, %v, want storage", res, err)
	}
	r.wantLevel("after a failed sync", "LED", 0)
	at := time.Now()
	eventually(t, "it drives again", func() bool {
		res, err := r.agent.PinSet(r.ctx(), "LED", 1)
		return err == nil && !res.Error
	})
	within(t, "failed sync", time.Since(at), limits.AuditRetry+time.Second)
	r.wantLevel("when it was recovered", "LED", 1)
}

// Store corrupt: each file that survives is damaged in turn, in several ways. The terminal starts, safe; what was damaged is told and
// its bytes are kept; all the other files are believed. A latch that is damaged, or gone, is set.
func TestStoreCorrupt(t *testing.T) {
	dir := t.TempDir()
	r := start(t, terminal.Options{Dir: dir})
	brief := every("kept", time.Hour)
	brief.Storage = "persistent"
	kept := r.task(r.agent, "pass", brief)
	brief.Name = "kept too"
	second := r.task(r.agent, "pass", brief)
	if b, err := r.human.Board(r.ctx(), "show"); err != nil {
		t.Fatal(err)
	} else if _, err := r.human.BoardApply(r.ctx(), boardPy+"\nAPPLIED = 1\n", b.SHA256); err != nil {
		t.Fatal(err)
	}
	r.run(r.agent, "LED.on()")
	r.end()
	guard := filepath.Join(dir, "guard")
	files := map[string][]byte{}
	if err := filepath.WalkDir(guard, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(files) < 6 {
		t.Fatalf("only %d files survive: %v", len(files), files)
	}
	damages := map[string]func(b []byte) []byte{
		"a bit":  func(b []byte) []byte { b[len(b)/2] ^= 0x40; return b },
		"half":   func(b []byte) []byte { return b[:len(b)/2] },
		"zeroes": func(b []byte) []byte { return make([]byte, len(b)) },
	}
	for path, whole := range files {
		name := strings.TrimPrefix(path, guard+"/")
		for how, damage := range damages {
			t.Run(strings.ReplaceAll(name, "/", ".")+" "+how, func(t *testing.T) {
				sub := t.TempDir()
				copyFolder(t, dir, sub)
				broken := damage(slices.Clone(whole))
				if err := os.WriteFile(filepath.Join(sub, "guard", name), broken, 0o600); err != nil {
					t.Fatal(err)
				}
				startCorrupt(t, sub, name, broken, kept, second)
			})
		}
	}
	t.Run("the latch is gone", func(t *testing.T) {
		if err := os.Remove(filepath.Join(guard, "estop")); err != nil {
			t.Fatal(err)
		}
		r := start(t, terminal.Options{Dir: dir})
		if s, err := r.human.Status(r.ctx()); err != nil || !s.Estop.Latched {
			t.Errorf("got %+v, %v, want the e-stop set", s.Estop, err)
		}
		if res := r.exec(r.agent, protocol.Exec{Code: "LED.on()"}); res.Code != protocol.CodeEstopped {
			t.Errorf("got %+v, want estopped", res)
		}
		r.waitEvent("store_damaged", map[string]any{"text": "estop"})
	})
}

// copyFolder copies a state folder with the modes of its files.
func copyFolder(t testing.TB, from, to string) {
	t.Helper()
	if err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		there := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(there, 0o700)
		}
		b, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(there, b, 0o600))
	}); err != nil {
		t.Fatal(err)
	}
}

// startCorrupt starts a terminal whose file of that name was damaged.
func startCorrupt(t *testing.T, dir, name string, broken []byte, tasks ...string) {
	t.Helper()
	at := time.Now()
	r := start(t, terminal.Options{Dir: dir})
	r.wantSafe("at the start")
	figure("store corrupt, %s: serves in %v", name, time.Since(at).Round(time.Millisecond))
	status, err := r.human.Status(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if latch := name == "estop"; status.Estop.Latched != latch {
		t.Errorf("the e-stop is set: %v, want %v", status.Estop.Latched, latch)
	}
	if strings.HasSuffix(name, ".log") && len(broken) > 0 && strings.IndexByte(string(broken), 0) < 0 && status.AuditHead != "" && !strings.HasSuffix(string(broken), "\n") {
		// A log that ends in the middle of a line is what a loss of power leaves: the log itself says that it was cut.
		tail, err := r.human.Audit(r.ctx(), protocol.Audit{Op: "tail"})
		if err != nil || !strings.Contains(fmt.Sprintf("%s", tail.Entries), "unfinished line") {
			t.Errorf("audit: got %s, %v, want the cut told of", tail.Entries, err)
		}
		return
	}
	if len(r.happened("store_damaged")) == 0 {
		t.Error("no event store_damaged")
	}
	found := false
	entries, err := os.ReadDir(filepath.Join(dir, "guard", "quarantine"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, "guard", "quarantine", e.Name()))
		found = found || err == nil && len(b) > 0 && strings.Contains(string(broken), string(b))
	}
	if !found {
		t.Errorf("the damaged bytes of %s are not in quarantine, which has %v", name, entries)
	}
	if name == "estop" {
		if err := r.human.EstopClear(r.ctx(), "looked at it"); err != nil {
			t.Fatal(err)
		}
	}
	r.run(r.agent, "LED.on()")
	if !strings.HasPrefix(name, "records") {
		for _, id := range tasks {
			if got := r.info(id); got.State != "pending" && got.State != "held" {
				t.Errorf("task %s: got %s", id, got.State)
			}
		}
		return
	}
	list, err := r.human.Tasks(r.ctx())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, i := range list.Tasks {
		ids = append(ids, i.TaskID)
	}
	if len(ids) < len(tasks)-1 {
		t.Errorf("tasks after one record was damaged: %v", ids)
	}
	fmt.Fprintln(t.Output(), name, "tasks left:", ids)
}

// A release that the disk does not take is one all the same, is told as one, and the caller is told what that means.
func TestReleaseOnReadOnlyDisk(t *testing.T) {
	disk, dir := crash.New(6), t.TempDir()
	r := start(t, terminal.Options{Disk: disk, Dir: dir})
	if err := r.agent.Stop(r.ctx(), "kept"); err != nil {
		t.Fatal(err)
	}
	disk.ReadOnly(true)
	if code, _ := refusal(r.human.EstopClear(r.ctx(), "cannot be kept")); code != protocol.CodeStorage {
		t.Errorf("got %q, want storage", code)
	}
	if stopped, _, _ := r.Table.Stopped(); stopped {
		t.Error("not released")
	}
	r.waitEvent("estop", map[string]any{"latched": false, "reason": "cannot be kept"})
	latched := func() bool {
		_, found, err := store.OpenLatch(disk.Restart(3), "estop", true)
		return err != nil || found.Set
	}
	if !latched() {
		t.Error("a disk that cannot be written says clear")
	}
	disk.ReadOnly(false)
	eventually(t, "the disk takes the release by itself", func() bool { return !latched() })
}

// A log that was put back to an older copy of itself is whole in itself; a head that was kept elsewhere tells.
func TestAuditRolledBack(t *testing.T) {
	dir := t.TempDir()
	r := start(t, terminal.Options{Dir: dir})
	r.run(r.agent, "LED.on()")
	r.end()
	old := t.TempDir()
	copyFolder(t, dir, old)
	r = start(t, terminal.Options{Dir: dir})
	r.run(r.agent, "RELAY.on()")
	verify := func(r *rig, head string) *protocol.AuditAnswer {
		t.Helper()
		a, err := r.human.Audit(r.ctx(), protocol.Audit{Op: "verify", Head: head})
		if err != nil || a.Report == nil {
			t.Fatalf("verify: got %+v, %v", a, err)
		}
		return a
	}
	head := verify(r, "").End
	if a := verify(r, head); a.Report.Problem != "" {
		t.Errorf("the log itself: got %+v", a.Report)
	}
	r.end()
	r = start(t, terminal.Options{Dir: old})
	r.run(r.agent, "print(1)")
	r.run(r.agent, "print(2)")
	if a := verify(r, ""); a.Report.Problem != "" {
		t.Errorf("the old copy alone: got %+v", a.Report)
	}
	if a := verify(r, head); a.Report.Problem == "" || a.Report.Bad == 0 {
		t.Errorf("the old copy with the kept head %s: got %+v, want a problem", head, a.Report)
	}
}
