package protocol

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func mustEncode(t *testing.T, answer any) string {
	t.Helper()
	out, err := Encode(answer)
	if err != nil {
		t.Fatalf("Encode(%T): got error %v, want none", answer, err)
	}
	if !utf8.Valid(out) || bytes.ContainsAny(out, "\r\n") || len(out) > limits.MessageBytes {
		t.Fatalf("Encode(%T): got %d bytes %.200q, want one line of valid UTF-8 within a message", answer, len(out), out)
	}
	return string(out)
}

func TestEncode(t *testing.T) {
	tests := []struct {
		name   string
		answer any
		want   string
	}{
		{"result", Result{Header: NewHeader(ptr("msg_001"), AnswerResult), Stdout: "Pin 5 set HIGH\n", ExecTimeMS: 12},
			`{"version":"1","id":"msg_001","type":"result","stdout":"Pin 5 set HIGH\n","stderr":"","error":false,"exec_time_ms":12,"truncated":false}`},
		{"result-pointer-no-id", &Result{Header: NewHeader(nil, AnswerResult)},
			`{"version":"1","id":null,"type":"result","stdout":"","stderr":"","error":false,"exec_time_ms":0,"truncated":false}`},
		{"characters", Output{Header: NewHeader(ptr("a"), AnswerOutput), Stream: "stdout", Data: "\x00\u2028\u2029😀<&>\"\\\r\n"},
			`{"version":"1","id":"a","type":"output","stream":"stdout","data":"\u0000` + "\u2028\u2029" + `😀<&>\"\\\r\n","seq":0}`},
		{"bad-utf8", Output{Header: NewHeader(ptr("a"), AnswerOutput), Data: "a\xffb\xed\xa0\x80"},
			`{"version":"1","id":"a","type":"output","stream":"","data":"a` + "\ufffdb\ufffd\ufffd\ufffd" + `","seq":0}`},
		{"event-without-data", Event{Header: NewHeader(ptr("evt_1"), AnswerEvent), Event: "boot", TimestampMS: 5, Seq: 1},
			`{"version":"1","id":"evt_1","type":"event","event":"boot","data":{},"timestamp_ms":5,"seq":1}`},
		{"event-data-on-one-line", &Event{Header: NewHeader(ptr("evt_1"), AnswerEvent), Event: "e", Data: jsontext.Value("{\n \"a\": [1,\r\n2]}")},
			`{"version":"1","id":"evt_1","type":"event","event":"e","data":{"a":[1,2]},"timestamp_ms":0,"seq":0}`},
		{"empty-lists", Welcome{Header: NewHeader(nil, AnswerWelcome)},
			`{"version":"1","id":null,"type":"welcome","versions":[],"terminal":"","product":"","guard":"","actor":{"name":"","class":"","scopes":[]},"conn":0,"frames":[],"limits":{}}`},
		{"empty-pins", Pins{Header: NewHeader(nil, AnswerPins)}, `{"version":"1","id":null,"type":"pins","pins":[]}`},
		{"meta-as-sent", Result{Header: NewHeader(nil, AnswerResult), Meta: jsontext.Value(`{"a": 1.50, "big":12345678901234567890, "s":"\u0041"}`)},
			`{"version":"1","id":null,"type":"result","stdout":"","stderr":"","error":false,"exec_time_ms":0,"truncated":false,"meta":{"a":1.50,"big":12345678901234567890,"s":"\u0041"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, mustEncode(t, tt.answer)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestEncodeIsDeterministic(t *testing.T) {
	bounds := map[string]int64{}
	for i := range 50 {
		bounds[fmt.Sprint("limit", i)] = int64(i)
	}
	want := mustEncode(t, Welcome{Header: NewHeader(nil, AnswerWelcome), Limits: bounds})
	for range 20 {
		if got := mustEncode(t, Welcome{Header: NewHeader(nil, AnswerWelcome), Limits: bounds}); got != want {
			t.Fatalf("got %s, want %s every time", got, want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	tests := []struct {
		name   string
		answer any
		code   Code
	}{
		{"no-answer", struct{ A int }{1}, CodeInternal},
		{"nil", nil, CodeInternal},
		{"event-data-list", Event{Header: NewHeader(nil, AnswerEvent), Data: jsontext.Value(`[1]`)}, CodeInternal},
		{"broken-event-data", Event{Header: NewHeader(nil, AnswerEvent), Data: jsontext.Value(`{"a":`)}, CodeInternal},
		{"two-values", Result{Header: NewHeader(nil, AnswerResult), Value: jsontext.Value(`1,"error":false`)}, CodeInternal},
		{"duplicate-in-value", Result{Header: NewHeader(nil, AnswerResult), Value: jsontext.Value(`{"a":1,"a":2}`)}, CodeInternal},
		{"too-many-pins", Pins{Header: NewHeader(nil, AnswerPins), Pins: make([]PinState, limits.MessageBytes/8)}, CodeTooLarge},
		{"value-too-large", Result{Header: NewHeader(nil, AnswerResult), Stdout: "x",
			Value: jsontext.Value(`"` + strings.Repeat("x", limits.MessageBytes) + `"`)}, CodeTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Encode(tt.answer)
			wantCode(t, err, tt.code)
		})
	}
}

// A result always fits a message, whatever the guest printed, and says what it lost.
func TestEncodeResultThatWouldNotFit(t *testing.T) {
	nul := strings.Repeat("\x00", limits.OutputMax)
	exception := &Exception{Class: "ValueError", Message: nul, Traceback: nul}
	res := Result{Header: NewHeader(ptr("a"), AnswerResult), Stdout: nul, Stderr: strings.Repeat("😀\x01", limits.OutputMax/5), Exception: exception}
	var got Result
	if err := json.Unmarshal([]byte(mustEncode(t, res)), &got); err != nil {
		t.Fatal(err)
	}
	kept := len(got.Stdout) + len(got.Stderr) + len(got.Exception.Message) + len(got.Exception.Traceback)
	all := len(res.Stdout) + len(res.Stderr) + 2*len(nul)
	if !got.Truncated || got.DroppedBytes != all-kept || kept < limits.OutputMax/4 {
		t.Errorf("got truncated %v, %d dropped, %d kept; want true, %d dropped and not much less than fits",
			got.Truncated, got.DroppedBytes, kept, all-kept)
	}
	if strings.Contains(got.Stderr, "\ufffd") {
		t.Error("got a rune split by the cut")
	}
	if exception.Message != nul || exception.Traceback != nul {
		t.Error("got the caller's exception changed")
	}
	fits := Result{Header: NewHeader(nil, AnswerResult), Stdout: strings.Repeat("x", limits.OutputMax), Stderr: strings.Repeat("y", limits.OutputMax)}
	if out := mustEncode(t, fits); len(out) < 2*limits.OutputMax || strings.Contains(out, `"truncated":true`) {
		t.Errorf("got %d bytes, want output within its bounds untouched", len(out))
	}
}

func TestRefuse(t *testing.T) {
	denied := &Error{Code: CodeDenied, Message: "pin 0 belongs to the system", Resource: "pin 0", Rule: "owner", Holder: "system", Nearest: []string{"5"}}
	tests := []struct {
		name string
		err  error
		want Result
	}{
		{"all-it-says", denied, Result{Code: CodeDenied, Message: "pin 0 belongs to the system", Resource: "pin 0", Rule: "owner", Holder: "system", Nearest: []string{"5"}}},
		{"wrapped", fmt.Errorf("exec: %w", denied), Result{Code: CodeDenied, Message: "pin 0 belongs to the system", Resource: "pin 0", Rule: "owner", Holder: "system", Nearest: []string{"5"}}},
		{"retryable", &Error{Code: CodeBusy, Message: "8 wait"}, Result{Code: CodeBusy, Message: "8 wait", Retryable: true}},
		{"other", context.DeadlineExceeded, Result{Code: CodeInternal, Message: "context deadline exceeded"}},
		{"nil", nil, Result{Code: CodeInternal, Message: "no reason was given"}},
		{"long", errors.New(strings.Repeat("é", limits.ReasonBytes)), Result{Code: CodeInternal, Message: strings.Repeat("é", limits.ReasonBytes/2)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Header, tt.want.Error = Header{Version: "1", ID: ptr("a"), Type: "result"}, true
			if diff := cmp.Diff(tt.want, Refuse(ptr("a"), tt.err)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestEventData(t *testing.T) {
	deep := limits.JSONDepth - 1
	tests := []struct{ name, raw, want string }{
		{"nothing", "", `{}`},
		{"null", " null ", `{}`},
		{"object", `{ "temp": 61.50 }`, `{"temp":61.50}`},
		{"number", `5`, `{"value":5}`},
		{"list", `[1, 2]`, `{"value":[1,2]}`},
		{"case-variants-are-a-guests-right", `{"a":1,"A":2}`, `{"a":1,"A":2}`},
		{"deepest", nested(deep, `{"a":`, "}"), nested(deep, `{"a":`, "}")},
		{"duplicate", `{"a":1,"a":2}`, ""},
		{"surrogate", `"\ud800"`, ""},
		{"bad-utf8", "\"\xff\"", ""},
		{"two", `1 2`, ""},
		{"injection", `1},"type":"result"`, ""},
		{"too-deep", nested(deep+1, `{"a":`, "}"), ""},
		{"too-long", `"` + strings.Repeat("x", limits.EventDataBytes) + `"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := EventData([]byte(tt.raw))
			if (err != nil) != (tt.want == "") || string(got) != tt.want {
				t.Fatalf("EventData(%.60s): got %s, %v; want %q", tt.raw, got, err, tt.want)
			}
			if err != nil {
				return
			}
			out := mustEncode(t, Event{Header: NewHeader(ptr("evt_1"), AnswerEvent), Event: "user:x", Data: got})
			if err := CheckText([]byte(out), limits.JSONDepth); err != nil {
				t.Errorf("the client refuses the event: %v", err)
			}
		})
	}
}
