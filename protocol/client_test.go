package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func TestEncodeRequest(t *testing.T) {
	tests := []struct {
		name string
		typ  string
		id   *string
		body any
		want string
	}{
		{"exec", TypeExec, ptr("1"), &Exec{Code: "x=1\n", TimeoutMS: ptr(int64(5))},
			`{"version":"1","id":"1","type":"exec","code":"x=1\n","timeout_ms":5}`},
		{"no-id", TypeExec, nil, &Exec{Code: "\x00\u2028"}, `{"version":"1","type":"exec","code":"\u0000` + "\u2028" + `"}`},
		{"no-body", TypePing, ptr("1"), nil, `{"version":"1","id":"1","type":"ping"}`},
		{"empty-body", TypeStop, ptr("1"), &Stop{}, `{"version":"1","id":"1","type":"stop"}`},
		{"pin", TypePinSet, ptr("1"), &PinSet{Pin: "5"}, `{"version":"1","id":"1","type":"pin_set","pin":"5","value":0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := EncodeRequest(tt.typ, tt.id, tt.body)
			if err != nil || string(got) != tt.want {
				t.Fatalf("got %s, %v; want %s", got, err, tt.want)
			}
			if _, err := Decode(got); err != nil {
				t.Errorf("Decode(%s): got error %v, want none", got, err)
			}
		})
	}
}

func TestEncodeRequestRefuses(t *testing.T) {
	_, err := EncodeRequest(TypeExec, nil, &Exec{Code: "\xff"})
	wantCode(t, err, CodeBadRequest)
	_, err = EncodeRequest(TypeExec, ptr("\xff"), &Exec{Code: "x"})
	wantCode(t, err, CodeBadRequest)
	_, err = EncodeRequest(TypeExec, nil, &Exec{Code: strings.Repeat("x", limits.MessageBytes)})
	wantCode(t, err, CodeTooLarge)
	for _, body := range []any{(*Exec)(nil), "code", []string{"code"}} {
		_, err = EncodeRequest(TypeExec, nil, body)
		wantCode(t, err, CodeInternal)
	}
}

func TestDecodeAnswerSeed(t *testing.T) {
	want := map[string]Answer{
		"result-full.json": &Result{Header: NewHeader(ptr("msg_001"), "result"), Stdout: "Pin 5 set HIGH\n", ExecTimeMS: 12},
		"result-post.json": &Result{Header: NewHeader(ptr("msg_001"), "result"), ExecTimeMS: 12},
		"result-scan.json": &Result{Header: Header{ID: ptr("1"), Type: "result"}, Stdout: "['0x48','0x76']"},
		"result-led.json":  &Result{Header: Header{ID: ptr("2"), Type: "result"}},
		"event-full.json": &Event{Header: NewHeader(ptr("evt_001"), "event"), Event: "pin_change", TimestampMS: 1719552000000,
			Data: []byte("{\n\"pin\": 6,\n\"value\": 1\n}")},
		"event-short.json": &Event{Header: Header{ID: ptr("evt_01"), Type: "event"}, Event: "pin_change", Data: []byte(`{"pin":6,"value":0}`)},
	}
	got := map[string]Answer{}
	for file, msg := range seedFiles(t, "answers") {
		answer, err := DecodeAnswer(msg)
		if err != nil {
			t.Errorf("%s: got error %v, want none", file, err)
			continue
		}
		got[file] = answer
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestDecodeAnswerOfANewerTerminal(t *testing.T) {
	got, err := DecodeAnswer([]byte(`{"version":"1","id":"a","type":"ack","message":"done","news":{"x":[1]},"MESSAGE":"other"}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Answer(&Ack{Header: NewHeader(ptr("a"), "ack"), Message: "done"}), got); diff != "" {
		t.Errorf("unknown fields: want -, got +:\n%s", diff)
	}
	msg := `{"version":"1","id":"a","type":"lease","holder":"x"}`
	got, err = DecodeAnswer([]byte(msg))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Answer(&Other{Header: NewHeader(ptr("a"), "lease"), Raw: []byte(msg)}), got); diff != "" {
		t.Errorf("unknown type: want -, got +:\n%s", diff)
	}
}

func TestDecodeAnswerRefuses(t *testing.T) {
	for name, msg := range map[string]string{
		"empty":     "",
		"no-json":   "ok",
		"list":      `[]`,
		"two":       `{"version":"1","type":"pong"} {}`,
		"cut":       `{"version":"1","type":"pong"`,
		"duplicate": `{"version":"1","type":"ack","message":"a","message":"b"}`,
		"bad-utf8":  "{\"version\":\"1\",\"type\":\"ack\",\"message\":\"\xff\"}",
		"surrogate": `{"version":"1","type":"ack","message":"\ud800"}`,
		"deep":      `{"version":"1","type":"ack","x":` + nested(limits.JSONDepth, "[", "]") + `}`,
		"very-deep": strings.Repeat(`[`, 1<<20),
		"version":   `{"version":"2","type":"ack"}`,
		"kind":      `{"version":"1","type":"result","stdout":5}`,
	} {
		if got, err := DecodeAnswer([]byte(msg)); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}
