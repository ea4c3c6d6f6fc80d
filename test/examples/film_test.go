//go:build unix

package examples

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/terminal"
)

// TestFilm plays a part of the film from the flash chip to the display and looks at what the display holds: every byte of the last
// frame, and how many frames it took.
func TestFilm(t *testing.T) {
	const frames, frameBytes, part = 700, 1024, 8 << 10
	file := filepath.Join(t.TempDir(), "film.bin")
	draw := exec.CommandContext(t.Context(), "go", "run", "../../examples/video", "-frames", fmt.Sprint(frames), "-o", file)
	if out, err := draw.CombinedOutput(); err != nil {
		t.Fatalf("draw the film: %v\n%s", err, out)
	}
	film, err := os.ReadFile(file)
	if err != nil || len(film) != frames*frameBytes {
		t.Fatalf("film: got %d bytes, %v", len(film), err)
	}
	x := terminal.Start(t, nil)
	c, err := client.Dial(t.Context(), client.Target{URL: x.URL, Token: x.Human, Name: "film"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for at := 0; at < len(film); at += part {
		value := fmt.Sprintf("%d %s", at, base64.StdEncoding.EncodeToString(film[at:min(at+part, len(film))]))
		if _, err := c.Sim(t.Context(), protocol.Sim{Op: "load", Name: "W25Q64", Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	player, err := source(filepath.Join("video", "video.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, show := range []struct{ fps, count int }{{0, frames}, {25, 10}} {
		r, err := c.Exec(t.Context(), protocol.Exec{Code: fmt.Sprintf("FPS = %d; COUNT = %d\n%s", show.fps, show.count, player)})
		if err != nil || r.Error {
			t.Fatalf("play at %d: %v %+v", show.fps, err, r)
		}
		a, err := c.Sim(t.Context(), protocol.Sim{Op: "show", Name: "SSD1306"})
		if err != nil {
			t.Fatal(err)
		}
		var display struct {
			State struct {
				On     bool   `json:"on"`
				Frames int    `json:"frames"`
				RAM    []byte `json:"ram"`
			} `json:"state"`
		}
		if err := json.Unmarshal(a.Sim, &display); err != nil {
			t.Fatal(err)
		}
		last := film[(show.count-1)*frameBytes : show.count*frameBytes]
		if !display.State.On || !bytes.Equal(display.State.RAM, last) {
			t.Errorf("at %d frames a second: the display does not hold frame %d (on: %v)", show.fps, show.count-1, display.State.On)
		}
		if show.fps == 0 && display.State.Frames != frames {
			t.Errorf("got %d frames, want %d", display.State.Frames, frames)
		}
		if show.fps == 25 && r.ExecTimeMS < 390 {
			t.Errorf("10 frames at 25 a second took %d ms", r.ExecTimeMS)
		}
	}
}
