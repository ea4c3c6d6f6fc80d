package client

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

func ptr[T any](v T) *T { return &v }

func wantCode(t *testing.T, err error, want protocol.Code) {
	t.Helper()
	if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != want {
		t.Errorf("got %v, want code %s", err, want)
	}
}

// seedFiles returns the files of a folder of messages that the seed shows.
func seedFiles(t testing.TB, kind string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "protocol", "testdata", "seed", kind, "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d files of %s, %v", len(paths), kind, err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func mustEncode(t *testing.T, answer any) string {
	t.Helper()
	out, err := protocol.Encode(answer)
	if err != nil {
		t.Fatalf("encode %+v: %v", answer, err)
	}
	return string(out)
}

func TestEncodeRequest(t *testing.T) {
	tests := []struct {
		name string
		typ  string
		id   *string
		body any
		want string
	}{
		{"exec", protocol.TypeExec, ptr("1"), &protocol.Exec{Code: "x=1\n", TimeoutMS: ptr(int64(5))},
			`{"version":"1","id":"1","type":"exec","code":"x=1\n","timeout_ms":5}`},
		{"no-id", protocol.TypeExec, nil, &protocol.Exec{Code: "\x00\u2028"}, `{"version":"1","type":"exec","code":"\u0000` + "\u2028" + `"}`},
		{"no-body", protocol.TypePing, ptr("1"), nil, `{"version":"1","id":"1","type":"ping"}`},
		{"empty-body", protocol.TypeStop, ptr("1"), &protocol.Stop{}, `{"version":"1","id":"1","type":"stop"}`},
		{"pin", protocol.TypePinSet, ptr("1"), &protocol.PinSet{Pin: "5"}, `{"version":"1","id":"1","type":"pin_set","pin":"5","value":0}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := EncodeRequest(tt.typ, tt.id, tt.body)
			if err != nil || string(got) != tt.want {
				t.Fatalf("got %s, %v; want %s", got, err, tt.want)
			}
			if _, err := protocol.Decode(got); err != nil {
				t.Errorf("Decode(%s): got error %v, want none", got, err)
			}
		})
	}
}

func TestEncodeRequestRefuses(t *testing.T) {
	_, err := EncodeRequest(protocol.TypeExec, nil, &protocol.Exec{Code: "\xff"})
	wantCode(t, err, protocol.CodeBadRequest)
	_, err = EncodeRequest(protocol.TypeExec, ptr("\xff"), &protocol.Exec{Code: "x"})
	wantCode(t, err, protocol.CodeBadRequest)
	_, err = EncodeRequest(protocol.TypeExec, nil, &protocol.Exec{Code: strings.Repeat("x", limits.MessageBytes)})
	wantCode(t, err, protocol.CodeTooLarge)
	for _, body := range []any{(*protocol.Exec)(nil), "code", []string{"code"}} {
		_, err = EncodeRequest(protocol.TypeExec, nil, body)
		wantCode(t, err, protocol.CodeInternal)
	}
}

func TestDecodeAnswerSeed(t *testing.T) {
	want := map[string]protocol.Answer{
		"result-full.json": &protocol.Result{Header: protocol.NewHeader(ptr("msg_001"), "result"), Stdout: "Pin 5 set HIGH\n", ExecTimeMS: 12},
		"result-post.json": &protocol.Result{Header: protocol.NewHeader(ptr("msg_001"), "result"), ExecTimeMS: 12},
		"result-scan.json": &protocol.Result{Header: protocol.Header{ID: ptr("1"), Type: "result"}, Stdout: "['0x48','0x76']"},
		"result-led.json":  &protocol.Result{Header: protocol.Header{ID: ptr("2"), Type: "result"}},
		"event-full.json": &protocol.Event{Header: protocol.NewHeader(ptr("evt_001"), "event"), Event: "pin_change", TimestampMS: 1719552000000,
			Data: []byte("{\n\"pin\": 6,\n\"value\": 1\n}")},
		"event-short.json": &protocol.Event{Header: protocol.Header{ID: ptr("evt_01"), Type: "event"}, Event: "pin_change", Data: []byte(`{"pin":6,"value":0}`)},
	}
	got := map[string]protocol.Answer{}
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
	if diff := cmp.Diff(protocol.Answer(&protocol.Ack{Header: protocol.NewHeader(ptr("a"), "ack"), Message: "done"}), got); diff != "" {
		t.Errorf("unknown fields: want -, got +:\n%s", diff)
	}
	msg := `{"version":"1","id":"a","type":"node","holder":"x"}`
	got, err = DecodeAnswer([]byte(msg))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(protocol.Answer(&Other{Header: protocol.NewHeader(ptr("a"), "node"), Raw: []byte(msg)}), got); diff != "" {
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
		"deep":      `{"version":"1","type":"ack","x":` + strings.Repeat("[", limits.JSONDepth) + strings.Repeat("]", limits.JSONDepth) + `}`,
		"very-deep": strings.Repeat(`[`, 1<<20),
		"version":   `{"version":"2","type":"ack"}`,
		"kind":      `{"version":"1","type":"result","stdout":5}`,
	} {
		if got, err := DecodeAnswer([]byte(msg)); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

// Lists that are there are never null and an id that is absent always is, in every answer.
func TestEncodeNeverNull(t *testing.T) {
	for typ, fresh := range answers {
		a := fresh()
		reflect.ValueOf(a).Elem().FieldByName("Header").Set(reflect.ValueOf(protocol.NewHeader(nil, typ)))
		if sim, ok := a.(*protocol.SimAnswer); ok {
			sim.Sim = jsontext.Value(`{}`) // always set
		}
		out := mustEncode(t, a)
		if rest, ok := strings.CutPrefix(out, `{"version":"1","id":null,"type":"`+typ+`"`); !ok || strings.Contains(rest, "null") {
			t.Errorf("%s: got %s, want the header first, id null and nothing else null", typ, out)
		}
	}
}

// Every field of every answer survives the way to the client.
func TestAnswersRoundTrip(t *testing.T) {
	for typ, fresh := range answers {
		want := fresh()
		fill(reflect.ValueOf(want).Elem(), new(int64))
		reflect.ValueOf(want).Elem().FieldByName("Header").Set(reflect.ValueOf(protocol.NewHeader(ptr("id \u2028\x00"), typ)))
		out := mustEncode(t, want)
		got, err := DecodeAnswer([]byte(out))
		if err != nil {
			t.Errorf("DecodeAnswer(%s): %v", out, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", typ, diff)
		}
		if got.Head().Type != typ {
			t.Errorf("got header type %s, want %s", got.Head().Type, typ)
		}
	}
}

// fill sets everything in v to values that differ from zero and from each other.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[jsontext.Value]() {
			v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, key := range []string{"a", "b"} {
			elem := reflect.New(v.Type().Elem()).Elem()
			fill(elem, n)
			v.SetMapIndex(reflect.ValueOf(key), elem)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d é\x00\u2029", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(-*n)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	default:
		panic("fill " + v.Type().String())
	}
}

// FuzzRequest: what a client makes of a request, the terminal reads as the same request.
func FuzzRequest(f *testing.F) {
	for _, msg := range seedFiles(f, "requests") {
		f.Add(msg)
	}
	f.Add([]byte(`{"id":"1","type":"pin_set","pin":5,"value":true,"meta":{"a":[1]}}`))
	for _, msg := range []string{
		`{"type":"subscribe","events":["a"],"since":0}`, `{"brief":{"name":"x","after_ms":0,"resources":["A:read",5,{"resource":6}]},"code":"y"}`,
		`{"type":"lease","resources":["i2c0",{"resource":"LED","verb":"read"}],"ttl_ms":9,"keep":true}`, `{"type":"lease"}`,
		`{"type":"approval","op":"approve","approval_id":"a"}`, `{"type":"audit","op":"tail","since":0,"limit":1}`, `{"type":"trigger","task_id":"1"}`,
	} {
		f.Add([]byte(msg))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		req, err := protocol.Decode(msg)
		if err == nil && !isUnavailable(req) {
			checkFixedPoint(t, req)
		}
	})
}

func isUnavailable(req *protocol.Request) bool {
	_, ok := req.Body.(*protocol.Unavailable)
	return ok
}

func checkFixedPoint(t *testing.T, req *protocol.Request) {
	t.Helper()
	out, err := encodeRequest(req.Type, req.ID, req.Meta, req.Body)
	if err != nil {
		t.Fatalf("encode %+v: %v", req, err)
	}
	again, err := protocol.Decode(out)
	if err != nil {
		t.Fatalf("decode %s again: %v", out, err)
	}
	out2, err := encodeRequest(again.Type, again.ID, again.Meta, again.Body)
	if err != nil {
		t.Fatalf("encode %+v again: %v", again, err)
	}
	if !bytes.Equal(out, out2) {
		t.Fatalf("second encoding: got %s, want %s", out2, out)
	}
	if req.Meta != nil {
		if err := req.Meta.Compact(); err != nil {
			t.Fatal(err)
		}
	}
	again.Hash = req.Hash
	if diff := cmp.Diff(req, again); diff != "" {
		t.Fatalf("after a round trip: want -, got +:\n%s", diff)
	}
}

// FuzzDecodeAnswer: whatever a terminal sends, a client neither breaks nor reads it in two ways.
func FuzzDecodeAnswer(f *testing.F) {
	for _, msg := range seedFiles(f, "answers") {
		f.Add(msg)
	}
	for _, msg := range []string{
		`{"version":"1","id":null,"type":"status","running":{"id":null},"machines":null,"news":[1]}`,
		`{"type":"lease","leases":[{"resources":["A:read",5,{"resource":6,"news":1}]},null]}`, `{"type":"audit","entries":[{"a":1},null,5],"report":{}}`,
		`{"type":"task","task":{"brief":{"interval_ms":1,"resources":null},"missed":{"a":1,"A":2},"last":{"effects":[{}]}}}`,
		`{"version":"1","type":"event","data":5}`, `{"type":"later","a":1}`, `{"type":"welcome","limits":{"a":1,"A":2}}`,
		`{"type":"result","value":[1e400,{"a":null}],"effects":[{"pin":"5"}],"exception":{"class":"E"}}`,
	} {
		f.Add([]byte(msg))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		answer, err := DecodeAnswer(msg)
		if err != nil {
			return
		}
		out, err := protocol.Encode(answer)
		if err != nil {
			return // its data is no object, or it is too large
		}
		again, err := DecodeAnswer(out)
		if err != nil {
			t.Fatalf("decode %s again: %v", out, err)
		}
		out2, err := protocol.Encode(again)
		if err != nil || !bytes.Equal(out, out2) {
			t.Fatalf("second encoding: got %s, %v; want %s", out2, err, out)
		}
	})
}

// Every type of answer has a row in docs/protocol.md with its fields. What is inside lists of rows may be abridged.
func TestDocumentedAnswers(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## Answers\n")
	if !ok {
		t.Fatal("docs/protocol.md has no section Answers")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for typ, fresh := range answers {
		row := regexp.MustCompile("(?m)^\\| `" + typ + "` \\|.*$").FindString(text)
		if row == "" {
			t.Errorf("docs/protocol.md: got no answer %s", typ)
		}
		for field := range reflect.TypeOf(fresh()).Elem().Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" && name != "-" && !strings.Contains(row, "`"+name+"`") {
				t.Errorf("docs/protocol.md: answer %s: got no field %s", typ, name)
			}
		}
	}
}
