package protocol

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// Tool calls a function of board.py, or one that a program of this actor's session made a tool.
type Tool struct {
	Tool       string         `json:"tool"`
	Args       jsontext.Value `json:"args,omitzero"` // an object: arguments by name
	Session    string         `json:"session,omitzero"`
	TimeoutMS  *int64         `json:"timeout_ms,omitzero"`
	ApprovalID string         `json:"approval_id,omitzero"`
	TTLMS      *int64         `json:"ttl_ms,omitzero"`
}

func (t *Tool) check(present fields) *Error {
	if present.has("args") && t.Args.Kind() != '{' {
		return &Error{Code: CodeBadRequest, Message: "args must be an object"}
	}
	return first(
		word(present, "tool", t.Tool, limits.NameBytes),
		milliseconds("timeout_ms", t.TimeoutMS),
		name("session", t.Session, limits.SessionNameBytes),
		name("approval_id", t.ApprovalID, limits.NameBytes),
		milliseconds("ttl_ms", t.TTLMS),
	)
}

// Watch asks to be told of the edges of a pin, or of an analogue input that crosses a threshold.
type Watch struct {
	Pin        *PinName `json:"pin,omitzero"`
	Edge       string   `json:"edge,omitzero"` // rising, falling or both
	ADC        *PinName `json:"adc,omitzero"`
	Above      *float64 `json:"above,omitzero"` // in the unit of the input
	Below      *float64 `json:"below,omitzero"`
	Hysteresis *float64 `json:"hysteresis,omitzero"`
}

func (w *Watch) check(present fields) *Error {
	switch {
	case (w.Pin == nil) == (w.ADC == nil):
		return &Error{Code: CodeBadRequest, Message: "one of pin and adc is required"}
	case w.Pin != nil && (w.Above != nil || w.Below != nil || w.Hysteresis != nil):
		return &Error{Code: CodeBadRequest, Message: "above, below and hysteresis belong to adc"}
	case w.ADC != nil && w.Edge != "":
		return &Error{Code: CodeBadRequest, Message: "edge belongs to pin"}
	case w.Hysteresis != nil && *w.Hysteresis < 0:
		return &Error{Code: CodeBadRequest, Message: "hysteresis must be 0 or more"}
	case w.Edge != "" && !slices.Contains([]string{"rising", "falling", "both"}, w.Edge):
		return &Error{Code: CodeBadRequest, Message: "unknown edge " + quote(w.Edge), Nearest: []string{"rising", "falling", "both"}}
	case w.Pin != nil:
		return word(present, "pin", string(*w.Pin), limits.NameBytes)
	default:
		return word(present, "adc", string(*w.ADC), limits.NameBytes)
	}
}

// FS looks at or changes the files under /flash. Paths are absolute there: "/main.py".
type FS struct {
	Op     string `json:"op"`
	Path   string `json:"path,omitzero"`
	To     string `json:"to,omitzero"`       // mv
	Offset int64  `json:"offset,omitzero"`   // get, put
	Size   *int64 `json:"size,omitzero"`     // get: most bytes
	Data   []byte `json:"data_b64,omitzero"` // put
	SHA256 string `json:"sha256,omitzero"`   // put, with the last part: of the whole file, in hexadecimal
	Deep   bool   `json:"deep,omitzero"`     // ls, rm
}

// Changes reports whether the request changes files.
func (f *FS) Changes() bool { return !slices.Contains([]string{"ls", "stat", "get", "df"}, f.Op) }

func (f *FS) check(present fields) *Error {
	if err := op(present, f.Op, "ls", "stat", "get", "put", "rm", "mkdir", "mv", "df"); err != nil {
		return err
	}
	var path, to *Error
	if f.Op != "df" {
		path = first(required(present, "path"), filled("path", f.Path))
	}
	if f.Op == "mv" {
		to = first(required(present, "to"), filled("to", f.To))
	}
	switch {
	case f.Offset < 0 || f.Offset > limits.FileBytes:
		return &Error{Code: CodeBadRequest, Message: fmt.Sprintf("offset must be from 0 to %d", limits.FileBytes)}
	case f.Size != nil && *f.Size < 0:
		return &Error{Code: CodeBadRequest, Message: "size must be 0 or more"}
	case len(f.Data) > limits.FileChunk:
		return tooLarge("data_b64", limits.FileChunk)
	}
	return first(path, to, length("path", f.Path, limits.PathBytes), length("to", f.To, limits.PathBytes), length("sha256", f.SHA256, limits.NameBytes))
}

// FileEntry is one file or folder.
type FileEntry struct {
	Path   string `json:"path"`
	Folder bool   `json:"folder,omitzero"`
	Size   int64  `json:"size"`
	TimeMS int64  `json:"time_ms,omitzero"`
	Rights string `json:"rights,omitzero"` // of the code that wrote it: reading, asking or full
}

// FSAnswer answers fs.
type FSAnswer struct {
	Header
	Entries []FileEntry `json:"entries,omitzero"`  // ls, stat
	Size    int64       `json:"size,omitzero"`     // get, put: of the whole file so far
	SHA256  string      `json:"sha256,omitzero"`   // of the whole file; get: with its first part
	Data    []byte      `json:"data_b64,omitzero"` // get
	Free    int64       `json:"free,omitzero"`     // df
	Total   int64       `json:"total,omitzero"`    // df
}
