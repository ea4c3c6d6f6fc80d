//go:build !unix

package micropython

import (
	"errors"
	"time"
)

// channel does not exist where there are no socket pairs to inherit.
type channel struct{ mem []byte }

func openChannel(int, int) (*channel, error) {
	return nil, errors.New("the virtual machine process needs a Unix system")
}

func (*channel) share()                     {}
func (*channel) send(any) error             { return errors.ErrUnsupported }
func (*channel) next() (any, error)         { return nil, errors.ErrUnsupported }
func (*channel) receive(bool) (bool, error) { return false, errors.ErrUnsupported }
func (*channel) receiveSoon() (bool, error) { return false, errors.ErrUnsupported }
func (*channel) wait(time.Duration) error   { return errors.ErrUnsupported }
