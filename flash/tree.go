package flash

import (
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pal-terminal/pal/limits"
)

// own is the folder of the store's own files, which programs never see.
const own = ".pal"

// node is a file, or a folder when it has children. Store.mu guards it.
type node struct {
	children map[string]*node
	data     []byte
	time     time.Time
	rights   Rights
	stale    bool // the disk may hold something else, since a write failed half way
}

func (n *node) info(path string) Info {
	if n.children != nil {
		return Info{Path: path, Folder: true, Time: n.time}
	}
	return Info{Path: path, Size: int64(len(n.data)), Time: n.time, Rights: n.rights}
}

// mayChange says whether code of r may change the file.
func (n *node) mayChange(r Rights) error {
	if needs := min(n.rights, Full); r < needs {
		return fail(eACCES, "it was written by code of more rights (%v) [rule: flash.rights]", n.rights)
	}
	return nil
}

// mayRun says whether code of r may read a file of that name, which may be to import it.
func (n *node) mayRun(r Rights, path string) error {
	if strings.HasSuffix(path, ".py") && (n.rights < r || n.rights == lost && r > Reading) {
		return fail(eACCES, "code written with fewer rights (%v) is not run with more [rule: flash.rights]", n.rights)
	}
	return nil
}

// room says whether a folder's names, with one more, still fit one reply.
func (n *node) room(name string) bool {
	size := entryBytes + len(name)
	for other := range n.children {
		size += entryBytes + len(other)
	}
	return size <= replyBytes
}

// walk calls f for what is in a folder, in byte order of names, folders before what is in them.
func (n *node) walk(path string, deep bool, f func(path string, n *node)) {
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		c := n.children[name]
		f(path+"/"+name, c)
		if deep {
			c.walk(path+"/"+name, true, f)
		}
	}
}

// check refuses a path that is not absolute and clean, or that the store keeps for itself.
func check(path string) error {
	switch {
	case path == "/":
		return nil
	case len(path) > limits.PathBytes:
		return fail(eNAMETOOLONG, "a path has at most %d bytes", limits.PathBytes)
	case !strings.HasPrefix(path, "/") || strings.IndexByte(path, 0) >= 0 || !utf8.ValidString(path):
		return fail(eINVAL, "a path starts with / and is text without NUL")
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return fail(eINVAL, "a path has no empty part and no . or ..")
		case len(part) > limits.FileNameBytes:
			return fail(eNAMETOOLONG, "a name has at most %d bytes", limits.FileNameBytes)
		}
	}
	if first, _, _ := strings.Cut(path[1:], "/"); first == own {
		return fail(eACCES, "%s belongs to the guard [rule: flash.own]", own)
	}
	if strings.HasSuffix(strings.ToLower(path), ".mpy") {
		return fail(eACCES, "compiled code cannot be checked; keep the source as .py [rule: flash.mpy]")
	}
	return nil
}

// find returns the node of a path. The caller holds mu or writing.
func (s *Store) find(path string) (*node, error) {
	if err := check(path); err != nil {
		return nil, err
	}
	n := s.root
	if path == "/" {
		return n, nil
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		if n.children == nil {
			return nil, fail(eNOTDIR, "a part of the path is a file")
		}
		if n = n.children[part]; n == nil {
			return nil, fail(eNOENT, "no such file or folder")
		}
	}
	return n, nil
}

func (s *Store) file(path string) (*node, error) {
	n, err := s.find(path)
	if err == nil && n.children != nil {
		err = fail(eISDIR, "it is a folder")
	}
	return n, err
}

func (s *Store) folder(path string) (*node, error) {
	n, err := s.find(path)
	if err == nil && n.children == nil {
		err = fail(eNOTDIR, "it is a file")
	}
	return n, err
}

// parent returns the folder that a path is in, and its last part.
func (s *Store) parent(path string) (*node, string, error) {
	if err := check(path); err != nil {
		return nil, "", err
	}
	if path == "/" {
		return nil, "", fail(eACCES, "it is the root")
	}
	i := strings.LastIndexByte(path, '/')
	n, err := s.folder(path[:max(i, 1)])
	return n, path[i+1:], err
}

// place returns where a new entry would go; the caller holds writing.
func (s *Store) place(path string) (parent *node, name string, err error) {
	parent, name, err = s.parent(path)
	switch {
	case err != nil:
	case parent.children[name] != nil:
	case s.entries >= limits.FlashFiles:
		err = fail(eNOSPC, "there are %d files and folders, as many as may be", s.entries)
	case !parent.room(name):
		err = fail(eNOSPC, "the folder is full of names")
	}
	return parent, name, err
}

// afford refuses what would go over a bound: a file that has old bytes is to have size.
func (s *Store) afford(old, size int64) error {
	switch {
	case size > limits.FileBytes:
		return fail(eNOSPC, "a file has at most %d bytes", limits.FileBytes)
	case s.bytes-old+size > limits.FlashBytes:
		return fail(eNOSPC, "%d of %d bytes are left", limits.FlashBytes-s.bytes, limits.FlashBytes)
	}
	return nil
}
