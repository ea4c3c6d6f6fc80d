//go:build !(linux && (amd64 || arm64 || arm))

package micropython

import (
	"errors"
	"os"
)

func (s *sandbox) early() {
	os.Clearenv()
	s.did("empty-env", nil)
}

func (s *sandbox) close(int) {
	for _, name := range []string{"pdeathsig", "rlimits", "no-new-privs", "landlock", "seccomp"} {
		s.did(name, errors.New("only on Linux for amd64, arm64 and arm"))
	}
}
