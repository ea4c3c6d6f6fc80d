package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func env(pairs map[string]string) func(string) string {
	return func(key string) string { return pairs[key] }
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pal.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func ptr[T any](v T) *T { return &v }

func TestPrecedence(t *testing.T) {
	system := write(t, "board: a\nlisten: 127.0.0.1:1\nheap: 2MiB\nname: system\nstate: /s\n")
	user := write(t, "board: b\nlisten: 127.0.0.1:2\nno_auth: true\ntasks: 30\nwatchdog: /dev/watchdog\n")
	got, err := Load(Sources{
		Files:  []string{system, filepath.Join(t.TempDir(), "absent.yaml"), user},
		Getenv: env(map[string]string{"PAL_STATE": "/env", "HOME": "/home/x"}),
		Flags:  Layer{Listen: ptr("127.0.0.1:3"), NoAuth: ptr(false)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{Board: "b", Listen: "127.0.0.1:3", State: "/env", Name: "system", Heap: 2 << 20, Tasks: 30, Watchdog: "/dev/watchdog"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Load (-want +got):\n%s", d)
	}
}

func TestStateDir(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"own", map[string]string{"PAL_STATE": "/p", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/p"},
		{"xdg", map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/pal"},
		{"xdg_relative_is_ignored", map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/pal"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.local/state/pal"},
		{"service", nil, "/var/lib/pal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := StateDir(env(c.env)); got != c.want {
				t.Errorf("StateDir: got %s, want %s", got, c.want)
			}
		})
	}
}

func TestCacheDir(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"xdg", map[string]string{"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/pal"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.cache/pal"},
		{"service", nil, "/state/cache"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CacheDir(env(c.env), "/state"); got != c.want {
				t.Errorf("CacheDir: got %s, want %s", got, c.want)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	got := Files(env(map[string]string{"HOME": "/h"}))
	if d := cmp.Diff([]string{SystemFile, "/h/.config/pal/pal.yaml"}, got); d != "" {
		t.Errorf("Files (-want +got):\n%s", d)
	}
	got = Files(env(map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c"}))
	if d := cmp.Diff([]string{SystemFile, "/c/pal/pal.yaml"}, got); d != "" {
		t.Errorf("Files (-want +got):\n%s", d)
	}
}

// A wrong file must be told with the place of the fault, and a wrong value with the name of its key.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"unknown_key", "board: a\nlisen: x\n", `pal.yaml:2:1: unknown field "lisen"`},
		{"twice", "board: a\nboard: b\n", "pal.yaml:2:1: "},
		{"wrong_type", "no_auth: 7\n", "pal.yaml:1:10: "},
		{"not_yaml", "board: [\n", "pal.yaml:1:8: "},
		{"size", "heap: lots\n", `pal.yaml:1:7: "lots" is not a size`},
		{"public_without_auth", "listen: 0.0.0.0:7333\nno_auth: true\n", "listen: 0.0.0.0:7333 is not a loopback address"},
		{"name_without_auth", "listen: host.example:7333\nno_auth: true\n", "listen: host.example:7333 is not a loopback address"},
		{"listen", "listen: here\n", `listen: "here" is not HOST:PORT`},
		{"heap_small", "heap: 1\n", "heap: 1 bytes is outside"},
		{"tasks_many", "tasks: 257\n", "tasks: 257 is outside 0 to 256"},
		{"watchdog_relative", "watchdog: dev/watchdog\n", "is not the absolute path of a device"},
		{"heap_large", "heap: 65MiB\n", "heap: 68157440 bytes is outside"},
		{"board", "board: ''\n", "board: must name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(Sources{Files: []string{write(t, c.file)}, Getenv: env(nil)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Load: got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestEverythingWrongIsTold(t *testing.T) {
	_, err := Load(Sources{Files: []string{write(t, "board: ''\nlisten: x\nheap: 1\n")}, Getenv: env(nil)})
	if err == nil {
		t.Fatal("Load: got no error")
	}
	for _, want := range []string{"board:", "listen:", "heap:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Load: %q does not tell %q", err, want)
		}
	}
}

func TestUnreadableFile(t *testing.T) {
	if _, err := Load(Sources{Files: []string{t.TempDir()}, Getenv: env(nil)}); err == nil {
		t.Error("Load of a folder: got no error")
	}
}

func TestPublicWithAuth(t *testing.T) {
	cfg, err := Load(Sources{Getenv: env(nil), Flags: Layer{Listen: ptr("0.0.0.0:7333")}})
	if err != nil || cfg.Listen != "0.0.0.0:7333" {
		t.Errorf("Load: got %v, %v, want the address", cfg, err)
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "1048576": 1 << 20, "512KiB": 512 << 10, "2 MiB": 2 << 20} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("ParseSize(%q): got %d, %v, want %d", text, got, err, want)
		}
		again, err := ParseSize(got.String())
		if err != nil || again != got {
			t.Errorf("ParseSize(%q): got %d, %v, want %d", got.String(), again, err, got)
		}
	}
	for _, text := range []string{"", "-1", "1.5MiB", "MiB", "9999999999999MiB", "1GB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q): got %d, want an error", text, got)
		}
	}
}
