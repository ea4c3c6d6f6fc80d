package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/limits"
)

// Files of a state folder that tell a client where its terminal is and who it is.
const (
	terminalFile = "terminal.json"
	tokenFile    = "local-human.token"
)

// Terminal is what a running terminal writes into its state folder.
type Terminal struct {
	Addr string `json:"addr"` // host:port it listens at
	PID  int    `json:"pid"`
	URL  string `json:"url"` // of the WebSocket
}

// FromState returns the target of the terminal that runs with the state folder dir, as its local human. Both files are
// readable by the folder's owner only, which is what makes the caller that human. An error says what to do when there is
// no such terminal. One that was killed leaves its file; its address may be another's by then, so the process is looked for.
func FromState(dir string) (Target, error) {
	text, err := readState(filepath.Join(dir, terminalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Target{}, fmt.Errorf("no terminal runs with the state folder %s: start one with `pal up`, or name the folder or address of another: %w", dir, fs.ErrNotExist)
	}
	if err != nil {
		return Target{}, err
	}
	var at Terminal
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return Target{}, fmt.Errorf("read %s: %w", filepath.Join(dir, terminalFile), err)
	}
	if at.URL == "" {
		return Target{}, fmt.Errorf("read %s: it has no url", filepath.Join(dir, terminalFile))
	}
	if gone(at.PID) {
		// Whoever listens at that address now is somebody else, who must not get the token.
		return Target{}, fmt.Errorf("the terminal of the state folder %s was killed: start it again with `pal up`: %w", dir, fs.ErrNotExist)
	}
	token, err := readState(filepath.Join(dir, tokenFile))
	if err != nil {
		return Target{}, err
	}
	if token = strings.TrimSpace(token); token == "" {
		return Target{}, fmt.Errorf("read %s: it is empty", filepath.Join(dir, tokenFile))
	}
	return Target{URL: at.URL, Token: token}, nil
}

// readState reads a small file. The error of os names the file.
func readState(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, limits.StateFileBytes+1))
	if err != nil {
		return "", err
	}
	if len(text) > limits.StateFileBytes {
		return "", fmt.Errorf("read %s: longer than %d bytes", name, limits.StateFileBytes)
	}
	return string(text), nil
}
