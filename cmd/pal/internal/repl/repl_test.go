package repl

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func TestScript(t *testing.T) {
	var got []string
	run := func(_ context.Context, code string, _ io.Writer) error {
		got = append(got, code)
		return nil
	}
	const text = "a = 1\r\ndef f():\n  return 1\n\n  # more\n\nf()\nif a:\n  b"
	if err := Script(t.Context(), strings.NewReader(text), io.Discard, run); err != nil {
		t.Fatal(err)
	}
	want := []string{"a = 1", "def f():\n  return 1\n\n  # more\n", "f()", "if a:\n  b\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("statements (-want +got):\n%s", d)
	}
}

func TestScriptEndsWithRun(t *testing.T) {
	gone := errors.New("the connection is gone")
	calls := 0
	err := Script(t.Context(), strings.NewReader("a\nb\n"), io.Discard, func(context.Context, string, io.Writer) error {
		calls++
		return gone
	})
	if !errors.Is(err, gone) || calls != 1 {
		t.Errorf("Script: got %v after %d calls, want %v after 1", err, calls, gone)
	}
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h, err := openHistory(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"a", "", "b", "b", "  ", "c"} {
		h.Add(line)
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	if h, err = openHistory(file); err != nil {
		t.Fatal(err)
	}
	defer h.close()
	var got []string
	for i := range h.Len() {
		got = append(got, h.At(i))
	}
	if d := cmp.Diff([]string{"c", "b", "a"}, got); d != "" {
		t.Errorf("history, newest first (-want +got):\n%s", d)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the history: got %v, %v, want 0600", info.Mode(), err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(file, []byte(strings.Repeat("a\nb\n", limits.HistoryLines)), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := openHistory(file)
	if err != nil {
		t.Fatal(err)
	}
	h.Add("newest")
	if h.Len() != limits.HistoryLines || h.At(0) != "newest" {
		t.Errorf("history: got %d lines, the newest %q, want %d and %q", h.Len(), h.At(0), limits.HistoryLines, "newest")
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
}
