package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Tool calls a function by name and returns its result, also when it raised or was refused: see [Client.Exec].
func (c *Client) Tool(ctx context.Context, t protocol.Tool) (*protocol.Result, error) {
	answer, err := c.ask(ctx, protocol.TypeTool, &t, &call{})
	if err != nil {
		return nil, err
	}
	result, ok := answer.(*protocol.Result)
	if !ok {
		return nil, unexpected(protocol.TypeTool, answer)
	}
	return result, nil
}

// Watch asks to be told of a pin or an analogue input: events pin_change and adc_threshold, which a subscription to these
// names hands over.
func (c *Client) Watch(ctx context.Context, w protocol.Watch) error {
	return acknowledged(ctx, c, protocol.TypeWatch, &w)
}

// Unwatch ends what Watch began.
func (c *Client) Unwatch(ctx context.Context, w protocol.Watch) error {
	return acknowledged(ctx, c, protocol.TypeUnwatch, &w)
}

// FS looks at or changes files.
func (c *Client) FS(ctx context.Context, f protocol.FS) (*protocol.FSAnswer, error) {
	return ask[*protocol.FSAnswer](ctx, c, protocol.TypeFS, &f)
}

// errChanged says that a file changed while it was being read.
var errChanged = errors.New("the file changed while it was read")

// GetFile reads a whole file below /flash; path is absolute there.
func (c *Client) GetFile(ctx context.Context, path string) ([]byte, error) {
	var data []byte
	var sum string
	for {
		a, err := c.FS(ctx, protocol.FS{Op: "get", Path: path, Offset: int64(len(data))})
		if err != nil {
			return nil, err
		}
		if sum == "" {
			sum = a.SHA256
		}
		data = append(data, a.Data...)
		if len(data) > limits.FileBytes {
			return nil, fmt.Errorf("get %s: more than the %d bytes that a file has", path, limits.FileBytes)
		}
		if int64(len(data)) < a.Size && len(a.Data) > 0 {
			continue
		}
		if got := sha256.Sum256(data); int64(len(data)) != a.Size || hex.EncodeToString(got[:]) != sum {
			return nil, fmt.Errorf("get %s: %w", path, errChanged)
		}
		return data, nil
	}
}

// PutFile writes a whole file below /flash, which is seen when it is there as a whole.
func (c *Client) PutFile(ctx context.Context, path string, data []byte) error {
	sum := sha256.Sum256(data)
	for offset := 0; ; {
		part := data[offset:min(len(data), offset+limits.FileChunk)]
		f := protocol.FS{Op: "put", Path: path, Offset: int64(offset), Data: part}
		if offset += len(part); offset == len(data) {
			f.SHA256 = hex.EncodeToString(sum[:])
		}
		if _, err := c.FS(ctx, f); err != nil {
			return err
		}
		if f.SHA256 != "" {
			return nil
		}
	}
}
