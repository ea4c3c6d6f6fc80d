// Package config is how a terminal is set up: defaults, then the system's file, then the user's file, then the
// environment, then flags, each stronger than the one before.
//
// # Model
//
// Every source is a [Layer] whose fields are pointers: nil means "says nothing". [Load] reads the files, lays the layers
// over each other and validates the whole once; a [Config] is complete, checked and never changes. Files are strict YAML:
// an unknown key, a key written twice or a value of the wrong type is an error that names file, line and column, and all
// errors of a validation are told at once.
//
// config refuses to guess: a file that exists and cannot be read is an error, not an absent file. It says nothing of
// boards, whose description is a file of its own (package board).
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml"

	"github.com/pal-terminal/pal/limits"
)

// Defaults.
const (
	DefaultBoard  = "bench-sim"
	DefaultListen = "127.0.0.1:7333"
)

// EnvState is the environment variable that names the state folder.
const EnvState = "PAL_STATE"

// SystemFile is the configuration of the whole machine; the user's own lies over it.
const SystemFile = "/etc/pal/pal.yaml"

// Config is a checked configuration.
type Config struct {
	Board  string // file, or the name of a board that comes with PAL
	Listen string // host:port
	State  string // absolute path of the state folder
	Name   string // the terminal's name, at most limits.NameBytes bytes
	Heap   int64  // bytes of the machine's Python heap
	NoAuth bool   // serve unidentified peers; loopback only
	Main   bool   // run boot.py and main.py of /flash at the start

	NoAudit  bool   // keep no audit log; then ids are forgotten at a restart, too
	Tasks    int    // at most so many
	Realtime bool   // ask the kernel for what makes lateness smaller, where it is permitted
	Watchdog string // device of the hardware's watchdog; empty for none
	Network  string // interface whose loss is told; empty: that of the default route, unless listen is loopback
}

// Layer is what one source says. Nil fields say nothing.
type Layer struct {
	Board  *string `yaml:"board"`
	Listen *string `yaml:"listen"`
	State  *string `yaml:"state"`
	Name   *string `yaml:"name"`
	Heap   *Size   `yaml:"heap"`
	NoAuth *bool   `yaml:"no_auth"`
	Main   *bool   `yaml:"main"`

	NoAudit  *bool   `yaml:"no_audit"`
	Tasks    *int    `yaml:"tasks"`
	Realtime *bool   `yaml:"realtime"`
	Watchdog *string `yaml:"watchdog"`
	Network  *string `yaml:"network"`
}

// Sources says where a configuration comes from.
type Sources struct {
	Files  []string            // weakest first; files that do not exist are passed over
	Getenv func(string) string // environment; required
	Flags  Layer               // strongest
}

// Files returns the configuration files of this user, weakest first.
func Files(getenv func(string) string) []string {
	files := []string{SystemFile}
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return append(files, filepath.Join(dir, "pal", "pal.yaml"))
	}
	if home := getenv("HOME"); home != "" {
		files = append(files, filepath.Join(home, ".config", "pal", "pal.yaml"))
	}
	return files
}

// Load reads, merges and validates. The error joins everything that is wrong.
func Load(src Sources) (*Config, error) {
	state := StateDir(src.Getenv)
	heap := Size(limits.VMHeapDefault)
	cfg := Config{Board: DefaultBoard, Listen: DefaultListen, State: state, Heap: int64(heap), Tasks: limits.TasksDefault}
	if host, err := os.Hostname(); err == nil {
		cfg.Name = firstLabel(host)
	}
	if cfg.Name == "" {
		cfg.Name = "pal"
	}
	var errs []error
	for _, file := range src.Files {
		l, err := readFile(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		cfg.apply(l)
	}
	if dir := src.Getenv(EnvState); dir != "" {
		cfg.State = dir
	}
	cfg.apply(src.Flags)
	errs = append(errs, cfg.validate()...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &cfg, nil
}

// StateDir returns the state folder that environment and system imply: PAL_STATE, else the user's state folder, else
// the system's.
func StateDir(getenv func(string) string) string {
	if dir := getenv(EnvState); dir != "" {
		return dir
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pal")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "pal")
	}
	return "/var/lib/pal"
}

// CacheDir returns the folder that compiled engines are kept in: the user's cache, or a part of the state folder for a
// service that has no home.
func CacheDir(getenv func(string) string, state string) string {
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pal")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".cache", "pal")
	}
	return filepath.Join(state, "cache")
}

func (c *Config) apply(l Layer) {
	set(&c.Board, l.Board)
	set(&c.Listen, l.Listen)
	set(&c.State, l.State)
	set(&c.Name, l.Name)
	set(&c.NoAuth, l.NoAuth)
	set(&c.Main, l.Main)
	set(&c.NoAudit, l.NoAudit)
	set(&c.Tasks, l.Tasks)
	set(&c.Realtime, l.Realtime)
	set(&c.Watchdog, l.Watchdog)
	set(&c.Network, l.Network)
	if l.Heap != nil {
		c.Heap = int64(*l.Heap)
	}
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func readFile(file string) (Layer, error) {
	var l Layer
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("read configuration: %w", err)
	}
	return parse(file, data)
}

func parse(file string, data []byte) (Layer, error) {
	var l Layer
	err := yaml.UnmarshalWithOptions(data, &l, yaml.Strict())
	if err == nil {
		return l, nil
	}
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		pos := at.GetToken().Position
		return l, fmt.Errorf("%s:%d:%d: %s", file, pos.Line, pos.Column, at.GetMessage())
	}
	return l, fmt.Errorf("%s: %w", file, err)
}

func (c *Config) validate() []error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Board == "" {
		bad("board: must name a board file or a board that comes with pal")
	}
	host, _, err := net.SplitHostPort(c.Listen)
	switch {
	case err != nil:
		bad("listen: %q is not HOST:PORT", c.Listen)
	case c.NoAuth && !Loopback(host):
		bad("listen: %s is not a loopback address: no_auth serves anybody and exists for loopback only", c.Listen)
	}
	if c.State == "" {
		bad("state: must name a folder")
	} else if abs, err := filepath.Abs(c.State); err != nil {
		bad("state: %w", err)
	} else {
		c.State = abs
	}
	if c.Name == "" || len(c.Name) > limits.NameBytes {
		bad("name: must have 1 to %d bytes", limits.NameBytes)
	}
	if c.Heap < limits.VMHeapLeast || c.Heap > limits.VMHeapMax {
		bad("heap: %d bytes is outside %d to %d", c.Heap, limits.VMHeapLeast, limits.VMHeapMax)
	}
	if c.Tasks < 0 || c.Tasks > limits.TasksMax {
		bad("tasks: %d is outside 0 to %d", c.Tasks, limits.TasksMax)
	}
	if c.Watchdog != "" && !filepath.IsAbs(c.Watchdog) {
		bad("watchdog: %q is not the absolute path of a device", c.Watchdog)
	}
	return errs
}

// Loopback reports whether a host of a listen address can only be reached from this machine. A name other than localhost
// is taken for a public one: what it means may change.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

func firstLabel(host string) string {
	for i := range len(host) {
		if host[i] == '.' {
			host = host[:i]
			break
		}
	}
	return host[:min(len(host), limits.NameBytes)]
}
