package flash

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

const (
	replyBytes = limits.FrameBytes - 1<<10 // of Reply.Data, with room for what else a record holds
	entryBytes = 1 + 4 + 1                 // of FileList, beside the name
)

// Call performs one hw.OpFile call.
func (s *Store) Call(r Rights, call hw.Call) hw.Reply {
	reply, err := s.perform(r, call)
	if err = named("file", call.Text, err); err == nil {
		return reply
	}
	refusal, _ := errors.AsType[*Error](err)
	return hw.Reply{Errno: int32(refusal.Errno), Text: refusal.Text}
}

func (s *Store) perform(r Rights, call hw.Call) (hw.Reply, error) {
	path := call.Text
	switch call.A {
	case hw.FileStat, hw.FileRead, hw.FileList, hw.FileFree:
		return s.look(r, call)
	case hw.FileWrite:
		return hw.Reply{Value: int64(len(call.Data))}, s.change(func() error { return s.write(r, path, call.B, call.Data) })
	case hw.FileCreate:
		return hw.Reply{}, s.change(func() error { return s.create(r, path, call.B) })
	case hw.FileResize:
		return hw.Reply{}, s.change(func() error { return s.resize(r, path, call.B) })
	case hw.FileRemove:
		return hw.Reply{}, s.remove(r, path, false, mustBeFile)
	case hw.FileRmdir:
		return hw.Reply{}, s.remove(r, path, false, mustBeFolder)
	case hw.FileMkdir:
		return hw.Reply{}, s.change(func() error { return s.makeFolder(path) })
	case hw.FileRename:
		return hw.Reply{}, s.rename(r, path, string(call.Data))
	case hw.FileSync:
		if err := check(path); err != nil {
			return hw.Reply{}, err
		}
		return hw.Reply{}, s.sync(path)
	}
	return hw.Reply{}, fail(eINVAL, "unknown file call %d", call.A)
}

// makeFolder is os.mkdir: one folder, in one that is there.
func (s *Store) makeFolder(path string) error {
	parent, name, err := s.place(path)
	if err != nil {
		return err
	}
	if parent.children[name] != nil {
		return fail(eEXIST, "it is there already")
	}
	return s.makeFolders(path)
}

// look performs the calls that change nothing.
func (s *Store) look(r Rights, call hw.Call) (hw.Reply, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch call.A {
	case hw.FileStat:
		n, err := s.find(call.Text)
		if err != nil {
			return hw.Reply{}, err
		}
		reply := hw.Reply{Value: int64(len(n.data)), Extra: max(0, n.time.Unix())}
		if n.children != nil {
			reply.Value = -1
		}
		return reply, nil
	case hw.FileRead:
		n, err := s.file(call.Text)
		if err == nil {
			err = n.mayRun(r, call.Text)
		}
		if err != nil {
			return hw.Reply{}, err
		}
		from := min(max(0, call.B), int64(len(n.data)))
		to := from + min(max(0, call.C), int64(len(n.data))-from, replyBytes)
		return hw.Reply{Data: slices.Clone(n.data[from:to])}, nil
	case hw.FileList:
		n, err := s.folder(call.Text)
		if err != nil {
			return hw.Reply{}, err
		}
		return hw.Reply{Data: n.listing()}, nil
	default:
		return hw.Reply{Value: limits.FlashBytes - s.bytes, Extra: limits.FlashBytes}, nil
	}
}

// listing is the answer to FileList.
func (n *node) listing() []byte {
	var list []byte
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		c := n.children[name]
		kind := byte('f')
		if c.children != nil {
			kind = 'd'
		}
		list = binary.LittleEndian.AppendUint32(append(list, kind), uint32(len(c.data)))
		list = append(append(list, name...), 0)
	}
	return list
}
