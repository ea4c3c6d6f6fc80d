//go:build !linux

package notify

import "errors"

func openDevice(string) (dog, error) { return nil, errors.ErrUnsupported }
