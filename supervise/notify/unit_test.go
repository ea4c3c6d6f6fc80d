package notify

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
)

const unitFile = "../../examples/systemd/pal.service"

// unit reads the settings of the service; a comment is none.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			keys[key] = append(keys[key], value)
		}
	}
	return keys
}

// span reads a time as systemd does: seconds unless it says otherwise.
func span(t *testing.T, value string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(value)
	if err != nil {
		d, err = time.ParseDuration(value + "s")
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestUnit holds the service to what the guard relies on.
func TestUnit(t *testing.T) {
	keys := unit(t)
	for key, want := range map[string]time.Duration{"WatchdogSec": limits.WatchdogTimeout, "TimeoutAbortSec": limits.WatchdogAbort} {
		if v := keys[key]; len(v) != 1 || span(t, v[0]) != want {
			t.Errorf("%s: got %q, want %v", key, v, want)
		}
	}
	for key, want := range map[string]string{
		"Type": "notify", "NotifyAccess": "main", "Restart": "always", "WatchdogSignal": "SIGABRT", "KillMode": "mixed",
		"StartLimitIntervalSec": "0", "User": "pal", "StateDirectory": "pal", "StateDirectoryMode": "0700", "NoNewPrivileges": "yes",
		"CapabilityBoundingSet": "", "DevicePolicy": "closed",
	} {
		if !slices.Equal(keys[key], []string{want}) {
			t.Errorf("%s: got %q, want %q", key, keys[key], want)
		}
	}
	if v := keys["RestartSec"]; len(v) != 1 || span(t, v[0]) > 500*time.Millisecond {
		t.Errorf("RestartSec: got %q; a terminal is back within 2 s", v)
	}
	if v := keys["TimeoutStartSec"]; len(v) != 1 || span(t, v[0]) <= limits.VMStartTimeout+limits.BoardInitTimeout {
		t.Errorf("TimeoutStartSec: got %q, a first start takes longer", v)
	}
	if v := keys["TimeoutStopSec"]; len(v) != 1 || span(t, v[0]) <= limits.ShutdownTimeout {
		t.Errorf("TimeoutStopSec: got %q, an orderly end takes up to %v", v, limits.ShutdownTimeout)
	}
	for _, key := range []string{"MemoryDenyWriteExecute", "ProtectProc", "ProtectClock", "LimitRTPRIO", "LimitMEMLOCK", "AmbientCapabilities"} {
		if v, ok := keys[key]; ok {
			t.Errorf("%s is %q: the terminal does not work so, or has more rights than it needs", key, v)
		}
	}
	for _, call := range []string{"seccomp", "landlock_restrict_self", "adjtimex"} {
		if !slices.Contains(strings.Fields(strings.Join(keys["SystemCallFilter"], " ")), call) {
			t.Errorf("the filter refuses %s", call)
		}
	}
}

// TestUnitVerified has systemd itself read the unit, where it is installed. TestUnit stands alone elsewhere.
func TestUnitVerified(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd here")
	}
	text, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pal.service") // with a program that is there
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "/usr/local/bin/pal", "/bin/true", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "verify", "--man=no", file).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "pal.service") {
			t.Errorf("systemd: %s", line)
		}
	}
	if err != nil {
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
}
