//go:build unix

package terminal

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
)

// lateness is what status tells of a task.
type lateness struct {
	Task struct {
		Runs     uint64            `json:"runs"`
		State    string            `json:"state"`
		Missed   map[string]uint64 `json:"missed"`
		Lateness struct {
			Count uint64 `json:"count"`
			P50   int64  `json:"p50_us"`
			P99   int64  `json:"p99_us"`
			Max   int64  `json:"max_us"`
		} `json:"lateness"`
	} `json:"task"`
}

// register hands the terminal a task and returns its id.
func register(t testing.TB, conn transport.Conn, brief, code string) string {
	t.Helper()
	var a struct {
		TaskID string `json:"task_id"`
	}
	tell(t, conn, fmt.Sprintf(`{"type":"register","brief":%s,"code":%q}`, brief, code), &a)
	if a.TaskID == "" {
		t.Fatalf("the task %s was not registered", brief)
	}
	return a.TaskID
}

// tell sends a message and reads its answer into a.
func tell(t testing.TB, conn transport.Conn, message string, a any) {
	t.Helper()
	if err := conn.Write(t.Context(), []byte(message)); err != nil {
		t.Fatal(err)
	}
	raw, err := conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, a); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func (x *Terminal) lateness(t testing.TB, conn transport.Conn, id string) lateness {
	t.Helper()
	var l lateness
	tell(t, conn, fmt.Sprintf(`{"type":"status","task_id":%q}`, id), &l)
	return l
}

// A task of 10 ms keeps its pace beside a program that spins, prints and fills its memory: the machines are apart.
func TestTaskBesideHostileExec(t *testing.T) {
	x := Start(t, nil)
	conn := x.Pipe(x.Agent)
	id := register(t, conn, `{"name":"blink","interval_ms":10,"resources":["LED"]}`, "Pin('LED', Pin.OUT).toggle()")
	for _, code := range []string{"while True: pass", "while True: print('x'*100)", "l=[]\\nwhile True: l.append('y'*1000)", "def f(): f()\\nwhile True:\\n try: f()\\n except Exception: pass"} {
		var r struct {
			Code string `json:"code"`
		}
		tell(t, conn, `{"type":"exec","timeout_ms":700,"code":"`+code+`"}`, &r)
		if r.Code != "deadline" && r.Code != "python_error" {
			t.Errorf("%s: got %q", code, r.Code)
		}
	}
	l := x.lateness(t, conn, id)
	if l.Task.Runs < 100 || l.Task.State != "pending" && l.Task.State != "running" {
		t.Errorf("beside hostile programs: %+v, want at least 100 runs in 2.8 s and the task alive", l.Task)
	}
	t.Logf("%d runs, p50 %d µs, p99 %d µs, max %d µs, missed %v", l.Task.Runs, l.Task.Lateness.P50, l.Task.Lateness.P99, l.Task.Lateness.Max, l.Task.Missed)
}

// The lateness of a task of 10 ms: alone, with one core busy with something else, and beside a hostile program.
func BenchmarkTaskLatenessIdle(b *testing.B) { benchLateness(b, func(*Terminal) {}) }

func BenchmarkTaskLatenessCoreBusy(b *testing.B) {
	benchLateness(b, func(*Terminal) {
		busy := exec.CommandContext(b.Context(), "sh", "-c", "while :; do :; done") // another process, as it would be
		if err := busy.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { busy.Process.Kill(); busy.Wait() })
	})
}

func BenchmarkTaskLatenessHostileExec(b *testing.B) {
	benchLateness(b, func(x *Terminal) {
		conn := x.Pipe(x.Agent)
		if err := conn.Write(b.Context(), []byte(`{"type":"exec","timeout_ms":30000,"code":"l=[]\nwhile True:\n print('x'*100)\n l.append('y'*100)\n l=l[-500:]"}`)); err != nil {
			b.Fatal(err)
		}
	})
}

func benchLateness(b *testing.B, beside func(*Terminal)) {
	span := 15 * time.Second
	if os.Getenv("PAL_SHORT") != "" {
		span = 2 * time.Second
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + limits.VMReaders)) // as the product does
	x := Start(b, nil)
	conn := x.Pipe(x.Human)
	id := register(b, conn, `{"name":"tick","interval_ms":10}`, "pass")
	beside(x)
	var l lateness
	for b.Loop() {
		for until := time.Now().Add(span); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
			l = x.lateness(b, conn, id)
		}
	}
	b.ReportMetric(float64(l.Task.Lateness.P50), "µs-p50")
	b.ReportMetric(float64(l.Task.Lateness.P99), "µs-p99")
	b.ReportMetric(float64(l.Task.Lateness.Max), "µs-max")
	b.ReportMetric(float64(l.Task.Runs), "runs")
}

// waitRuns waits until a task has run n times and returns its newest runs, newest first.
func waitRuns(t testing.TB, conn transport.Conn, id string, n int) []taskRun {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(10 * time.Second); time.Now().Before(late); <-tick.C {
		var a struct {
			Runs []taskRun `json:"runs"`
		}
		tell(t, conn, fmt.Sprintf(`{"type":"task_result","task_id":%q}`, id), &a)
		if len(a.Runs) > 0 && a.Runs[0].Run >= n {
			return a.Runs
		}
	}
	t.Fatalf("task %s did not run %d times", id, n)
	return nil
}

type taskRun struct {
	Run     int    `json:"run"`
	Outcome string `json:"outcome"`
	Message string `json:"message"`
	Stdout  string `json:"stdout"`
}

// A task keeps its names from run to run, apart from those of sessions and of other tasks, and arms nothing.
func TestTaskNames(t *testing.T) {
	x := Start(t, nil)
	conn := x.Pipe(x.Agent)
	var r struct{}
	tell(t, conn, `{"type":"exec","code":"n = 100"}`, &r)
	count := "try: n += 1\nexcept NameError: n = 1\nprint(n)"
	one, two := register(t, conn, `{"name":"one","interval_ms":20}`, count), register(t, conn, `{"name":"two","interval_ms":30}`, count)
	for _, id := range []string{one, two} {
		for _, run := range waitRuns(t, conn, id, 5) {
			if want := fmt.Sprintf("%d\n", run.Run); run.Stdout != want {
				t.Errorf("run %d of task %s printed %q, want %q", run.Run, id, run.Stdout, want)
			}
		}
	}
	armed := register(t, conn, `{"name":"armed","interval_ms":50}`, "from machine import Timer\nTimer(0).init(period=10, callback=print)")
	if run := waitRuns(t, conn, armed, 1)[0]; run.Outcome != "denied" || !strings.Contains(run.Message, "a task arms no interrupts") {
		t.Errorf("a task that arms a timer: got %+v, want it denied", run)
	}
}

// In engineering mode a task drives through the functions of board.py alone, beside execs that do the same.
func TestTaskEngineering(t *testing.T) {
	desc, err := load.Bytes("board.yaml", []byte("board: b\nmode: engineering\nboard_py: board.py\npins:\n  - {id: 5, name: LAMP, owner: agent, can: [out], safe: low}\n"),
		[]byte("from machine import Pin\nLAMP = Pin('LAMP', Pin.OUT)\ndef lamp(on):\n    'switch the lamp'\n    LAMP.value(1 if on else 0)\n    return LAMP.value()\n"))
	if err != nil {
		t.Fatal(err)
	}
	x := Start(t, desc)
	conn := x.Pipe(x.Agent)
	raw := register(t, conn, `{"name":"raw","interval_ms":20,"max_runs":2}`, "Pin('LAMP', Pin.OUT).on()")
	good := register(t, conn, `{"name":"good","interval_ms":20}`, "import board\nprint(board.lamp(True), board.lamp(False))")
	for range 30 {
		var r struct {
			Error bool `json:"error"`
		}
		if tell(t, conn, `{"type":"exec","code":"import board\nboard.lamp(False)"}`, &r); r.Error {
			t.Fatal("an exec beside the task failed")
		}
	}
	if run := waitRuns(t, conn, good, 3)[0]; run.Outcome != "ok" || run.Stdout != "1 0\n" {
		t.Errorf("through board.py: got %+v, want 1 0", run)
	}
	if run := waitRuns(t, conn, raw, 1)[0]; run.Outcome != "denied" {
		t.Errorf("raw: got %+v, want it denied", run)
	}
}
