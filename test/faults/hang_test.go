//go:build unix

package faults

import (
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
	"github.com/pal-terminal/pal/test/terminal"
)

// hanging is a disk whose syncs can be made to wait.
type hanging struct {
	store.Disk
	mu sync.RWMutex // held while it hangs
}

func (h *hanging) wait() {
	h.mu.RLock()
	h.mu.RUnlock() //nolint:staticcheck // that is the waiting
}

func (h *hanging) Sync(dir string) error {
	h.wait()
	return h.Disk.Sync(dir)
}

func (h *hanging) Open(name string, create bool) (store.File, error) {
	f, err := h.Disk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return hangingFile{f, h}, nil
}

type hangingFile struct {
	store.File
	disk *hanging
}

func (f hangingFile) Sync() error {
	f.disk.wait()
	return f.File.Sync()
}

// A disk that neither works nor fails holds up neither the e-stop nor anybody who looks, and nothing is driven for long that it does
// not take.
func TestDiskHangs(t *testing.T) {
	disk := &hanging{Disk: crash.New(8)}
	r := start(t, terminal.Options{Disk: disk})
	fan := r.task(r.agent, "Pin('FAN', Pin.OUT).toggle()", every("fan", 20*time.Millisecond, drives("FAN")))
	eventually(t, "the task drives", func() bool { return r.info(fan).Runs > 2 })
	disk.mu.Lock()
	hung := time.Now()
	free := sync.OnceFunc(disk.mu.Unlock)
	defer free()
	if err := r.agent.Ping(r.ctx()); err != nil {
		t.Fatal(err)
	}
	if code, _ := outcome(r.agent.PinSet(r.ctx(), "LED", 1)); code != protocol.CodeStorage {
		t.Errorf("pin_set: got %q, want storage", code)
	}
	within(t, "disk that hangs: pin_set is refused", time.Since(hung), 2*limits.AuditPatience)
	eventually(t, "the task is held", func() bool { return r.info(fan).State == "held" })
	within(t, "disk that hangs: tasks are held", time.Since(hung), 2*limits.AuditPatience+limits.AuditSync)
	if s, err := r.human.Status(r.ctx()); err != nil || s.Storage == "" {
		t.Errorf("status: got %+v, %v, want a reason in storage", s, err)
	}
	at := time.Now()
	if err := r.human.Stop(r.ctx(), "while it hangs"); err != nil {
		t.Fatal(err)
	}
	within(t, "disk that hangs: stop", time.Since(at), limits.DriveTimeout)
	r.wantSafe("stopped")
	free()
	eventually(t, "the latch is on the disk", func() bool {
		_, found, err := store.OpenLatch(disk.Disk.(*crash.Disk).Restart(1), "estop", true)
		return err == nil && found.Set
	})
	if err := r.human.EstopClear(r.ctx(), "it works again"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it drives again", func() bool {
		res, err := r.agent.PinSet(r.ctx(), "LED", 1)
		return err == nil && !res.Error
	})
}
