package boardfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Beginnings of a board of one's own.
const (
	yamlText = `# A board of your own. Check it with: pal board lint THIS_FILE
board: %[1]s
mode: open            # open: any program may use agent pins; engineering: only functions of board.py may drive
board_py: %[2]s

pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 5, name: LED, owner: agent, can: [in, out], safe: low}
  - {id: 13, name: PUMP, owner: agent, can: [out], safe: low, max_on: 30s, min_off: 1s, danger: medium}
  - {id: 21, name: BUTTON, owner: agent, can: [in], pull: up}

drivers: {kind: sim}

devices:              # simulator only
  - {type: led, pin: LED}
  - {type: button, pin: BUTTON}
`
	pythonText = `"""What this board offers. Everything public here is known to programs by name."""

from machine import Pin

LED = Pin("LED", Pin.OUT)


def toggle_led() -> None:
    """Flip the status light."""
    LED.toggle()
`
)

// Begin writes a small board description, and a board.py beside it, whose name it returns. Neither may exist yet (fs.ErrExist).
func Begin(file string) (python string, err error) {
	stem := strings.TrimSuffix(file, filepath.Ext(file))
	python = stem + ".py"
	if err := writeNew(file, fmt.Sprintf(yamlText, filepath.Base(stem), filepath.Base(python))); err != nil {
		return "", err
	}
	return python, writeNew(python, pythonText)
}

// writeNew writes a file that must not exist yet.
func writeNew(name, content string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	return errors.Join(err, file.Close())
}
