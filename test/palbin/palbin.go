//go:build unix

// Package palbin builds the program for tests that start it as a process. It is always built without the race detector and
// without cgo, as it ships: a machine process of a race build needs far more memory than its limits allow.
//
// The binary stands in the folder named by PAL_TEST_BIN or in one of this checkout in the user's cache. The go command
// itself decides whether it is up to date, under a lock, so that test processes that run side by side build it once and none
// ever uses an old one.
package palbin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// Env names the folder to build into.
const Env = "PAL_TEST_BIN"

var build = sync.OnceValues(buildPal)

// Build returns the path of an up-to-date `pal`, building it at the first call of the process. It may be called from any
// goroutine that may end the test.
func Build(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatalf("build pal: %v", err)
	}
	return path
}

func buildPal() (path string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir, err := folder(root)
	if err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	path = filepath.Join(dir, "pal")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-race=false", "-o", path, "./cmd/pal")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// moduleRoot is the folder of the go.mod that the running test belongs to.
func moduleRoot() (string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	file := string(bytes.TrimSpace(out))
	if filepath.Base(file) != "go.mod" {
		return "", fmt.Errorf("no module around the test (GOMOD is %q)", file)
	}
	return filepath.Dir(file), nil
}

// folder is where the binary of the module at root stands.
func folder(root string) (string, error) {
	dir := os.Getenv(Env)
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("%w; or name a folder in %s", err, Env)
		}
		sum := sha256.Sum256([]byte(root))
		dir = filepath.Join(cache, "pal", "test-bin", hex.EncodeToString(sum[:8]))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// lock waits until no other process holds the file at path.
func lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file.Close, nil // closing gives the lock back
}
