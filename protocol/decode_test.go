package protocol

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func ptr[T any](v T) *T { return &v }

// nested returns depth lists or objects within each other.
func nested(depth int, open, closing string) string {
	return strings.Repeat(open, depth) + "0" + strings.Repeat(closing, depth)
}

func TestDecodeAccepts(t *testing.T) {
	tests := []struct {
		name string
		msg  string
		want Request
	}{
		{"exec", `{"version":"1","id":"a","type":"exec","code":"x"}`,
			Request{ID: ptr("a"), Type: "exec", Body: &Exec{Code: "x"}}},
		{"no-version-id-type", `{"code":"x"}`, Request{Type: "exec", Body: &Exec{Code: "x"}}},
		{"nulls-are-absent",
			`{"version":null,"id":null,"type":null,"meta":null,"code":"x","tool":null,"timeout_ms":null,"session":null,` +
				`"stream":null,"echo":null,"eval":null,"max_output":null,"dry_run":null,"approval_id":null,"ttl_ms":null,` +
				`"detach":null,"stop_on_error":null}`,
			Request{Type: "exec", Body: &Exec{Code: "x"}}},
		{"every-exec-field",
			`{"code":"x","timeout_ms":1,"session":"s","stream":true,"echo":false,"eval":true,"max_output":65536,` +
				`"dry_run":true,"approval_id":"ap","ttl_ms":9223372036854,"detach":true,"stop_on_error":true}`,
			Request{Type: "exec", Body: &Exec{Code: "x", TimeoutMS: ptr(int64(1)), Session: "s", Stream: true, Echo: ptr(false),
				Eval: true, MaxOutput: ptr(int64(65536)), DryRun: true, ApprovalID: "ap", TTLMS: ptr(int64(9223372036854)),
				Detach: true, StopOnError: true}}},
		{"empty-code", `{"code":""}`, Request{Type: "exec", Body: &Exec{}}},
		{"space-around", " \t\r\n{ \"code\" : \"x\" }\n", Request{Type: "exec", Body: &Exec{Code: "x"}}},
		{"nul-separators-emoji", "{\"code\":\"\\u0000\\u2028\u2029\\ud83d\\ude00\"}",
			Request{Type: "exec", Body: &Exec{Code: "\x00\u2028\u2029😀"}}},
		{"escaped-key", `{"c\u006fde":"x"}`, Request{Type: "exec", Body: &Exec{Code: "x"}}},
		{"longest-id", `{"id":"` + strings.Repeat("é", 32) + `","type":"ping"}`,
			Request{ID: ptr(strings.Repeat("é", 32)), Type: "ping"}},
		{"empty-id", `{"id":"","type":"ping"}`, Request{ID: ptr(""), Type: "ping"}},
		{"meta-kept-as-written", `{"type":"ping","meta":{"a": 1.50, "big":12345678901234567890, "s":"\u0041"}}`,
			Request{Type: "ping", Meta: []byte(`{"a": 1.50, "big":12345678901234567890, "s":"\u0041"}`)}},
		{"meta-at-full-depth", `{"type":"ping","meta":{"a":` + nested(limits.JSONDepth-2, "[", "]") + `}}`,
			Request{Type: "ping", Meta: []byte(`{"a":` + nested(limits.JSONDepth-2, "[", "]") + `}`)}},
		{"same-key-in-two-objects", `{"type":"ping","meta":{"a":{"x":1},"b":{"x":2},"type":3}}`,
			Request{Type: "ping", Meta: []byte(`{"a":{"x":1},"b":{"x":2},"type":3}`)}},
		{"longest-code", `{"code":"` + strings.Repeat("x", limits.CodeBytes) + `"}`,
			Request{Type: "exec", Body: &Exec{Code: strings.Repeat("x", limits.CodeBytes)}}},
		{"hello", `{"type":"hello","client":"c","token":"pal_x","terminal":"t","frames":["line"]}`,
			Request{Type: "hello", Body: &Hello{Client: "c", Token: "pal_x", Terminal: "t", Frames: []string{"line"}}}},
		{"interrupt", `{"type":"interrupt","target":"a"}`, Request{Type: "interrupt", Body: &Target{Target: "a"}}},
		{"fetch", `{"type":"fetch","target":"a"}`, Request{Type: "fetch", Body: &Target{Target: "a"}}},
		{"result-is-fetch", `{"type":"result","target":"a"}`, Request{Type: "fetch", Body: &Target{Target: "a"}}},
		{"describe", `{"type":"describe"}`, Request{Type: "describe"}},
		{"pins", `{"type":"pins"}`, Request{Type: "pins"}},
		{"status", `{"type":"status"}`, Request{Type: "status", Body: &StatusQuery{}}},
		{"status-of-a-task", `{"type":"status","task_id":"001"}`,
			Request{Type: "status", Body: &StatusQuery{TaskID: ptr("001")}}},
		{"pin-by-name", `{"type":"pin_read","pin":"LED"}`, Request{Type: "pin_read", Body: &PinRead{Pin: "LED"}}},
		{"pin-by-number", `{"type":"pin_read","pin":5}`, Request{Type: "pin_read", Body: &PinRead{Pin: "5"}}},
		{"level-number", `{"type":"pin_set","pin":5,"value":1}`, Request{Type: "pin_set", Body: &PinSet{Pin: "5", Value: 1}}},
		{"level-zero", `{"type":"pin_set","pin":5,"value":0}`, Request{Type: "pin_set", Body: &PinSet{Pin: "5"}}},
		{"level-boolean", `{"type":"pin_set","pin":5,"value":true}`, Request{Type: "pin_set", Body: &PinSet{Pin: "5", Value: 1}}},
		{"subscribe", `{"type":"subscribe","events":["*","user:x"],"since":0}`,
			Request{Type: "subscribe", Body: &Subscribe{Events: []string{"*", "user:x"}, Since: ptr(uint64(0))}}},
		{"unsubscribe", `{"type":"unsubscribe"}`, Request{Type: "unsubscribe", Body: &Subscribe{}}},
		{"stop", `{"type":"stop","reason":"smoke\nand fire"}`, Request{Type: "stop", Body: &Stop{Reason: "smoke\nand fire"}}},
		{"stop-of-many-words", `{"type":"stop","reason":"` + strings.Repeat("é", limits.ReasonBytes) + `"}`,
			Request{Type: "stop", Body: &Stop{Reason: strings.Repeat("é", limits.ReasonBytes/2)}}},
		{"estop-clear", `{"type":"estop_clear"}`, Request{Type: "estop_clear", Body: &EstopClear{}}},
		{"token", `{"type":"token","op":"create","name":"n","class":"agent","scopes":["read"],"ask":true,"ttl_ms":1}`,
			Request{Type: "token", Body: &Token{Op: "create", Name: "n", Class: "agent", Scopes: []string{"read"}, Ask: true,
				TTLMS: ptr(int64(1))}}},
		{"sim", `{"type":"sim","op":"set","name":"BUTTON","value":"1"}`,
			Request{Type: "sim", Body: &Sim{Op: "set", Name: "BUTTON", Value: "1"}}},
		{"sim-scenario", `{"type":"sim","op":"scenario","value":"- {at: 0s, do: press BUTTON}\n` + strings.Repeat("#", 100) + `"}`,
			Request{Type: "sim", Body: &Sim{Op: "scenario", Value: "- {at: 0s, do: press BUTTON}\n" + strings.Repeat("#", 100)}}},
		{"sim-load", `{"type":"sim","op":"load","name":"W25Q64","value":"0 ` + strings.Repeat("A", 16_000) + `"}`,
			Request{Type: "sim", Body: &Sim{Op: "load", Name: "W25Q64", Value: "0 " + strings.Repeat("A", 16_000)}}},
		{"conn", `{"type":"conn","op":"kick","conn":3}`, Request{Type: "conn", Body: &Conn{Op: "kick", Conn: ptr(uint64(3))}}},
		{"board", `{"type":"board","op":"source"}`, Request{Type: "board", Body: &Board{Op: "source"}}},
		{"reset", `{"type":"reset","session":"s"}`, Request{Type: "reset", Body: &Reset{Session: "s"}}},
		{"brief-is-register", `{"id":"r","brief":{"name":"x","interval_ms":200},"code":"y"}`,
			Request{ID: ptr("r"), Type: "register", Body: &Register{Brief: &Brief{Name: "x", IntervalMS: ptr(int64(200))}, Code: "y"}}},
		{"register-resources", `{"type":"register","brief":{"name":"x","cron":"0 6 * * *","time_zone":"Europe/Berlin","storage":"persistent","misfire":"all","resources":["RELAY_1","TEMP_ADC:read",5,{"resource":13,"verb":"read"}]},"code":"y"}`,
			Request{Type: "register", Body: &Register{Brief: &Brief{
				Name: "x", Cron: "0 6 * * *", TimeZone: "Europe/Berlin", Storage: "persistent", Misfire: "all",
				Resources: []ResourceUse{{"RELAY_1", ""}, {"TEMP_ADC", "read"}, {"5", ""}, {"13", "read"}},
			}, Code: "y"}}},
		{"cancel", `{"type":"cancel","task_id":"001"}`, Request{Type: "cancel", Body: &TaskRef{TaskID: "001"}}},
		{"task-result", `{"type":"task_result","task_id":"001","limit":3}`, Request{Type: "task_result", Body: &TaskRef{TaskID: "001", Limit: ptr(int64(3))}}},
		{"list", `{"type":"list"}`, Request{Type: "list"}},
		{"lease", `{"type":"lease","resources":["LED"],"ttl_ms":1000,"keep":true}`,
			Request{Type: "lease", Body: &Lease{Resources: []ResourceUse{{"LED", ""}}, TTLMS: ptr(int64(1000)), Keep: true}}},
		{"lease-renew", `{"type":"lease","lease_id":"l1"}`, Request{Type: "lease", Body: &Lease{LeaseID: "l1"}}},
		{"lease-list", `{"type":"lease"}`, Request{Type: "lease", Body: &Lease{}}},
		{"lease-release", `{"type":"lease_release","lease_id":"l1"}`, Request{Type: "lease_release", Body: &LeaseRelease{LeaseID: "l1"}}},
		{"approve", `{"type":"approval","op":"approve","approval_id":"a1"}`, Request{Type: "approval", Body: &Approval{Op: "approve", ApprovalID: "a1"}}},
		{"audit", `{"type":"audit","op":"tail","limit":5}`, Request{Type: "audit", Body: &Audit{Op: "tail", Limit: ptr(int64(5))}}},
		{"safe-mode", `{"type":"safe_mode","op":"leave"}`, Request{Type: "safe_mode", Body: &SafeMode{Op: "leave"}}},
		{"board-apply", `{"type":"board","op":"apply","source":"x = 1\n","confirm":"00"}`,
			Request{Type: "board", Body: &Board{Op: "apply", Source: "x = 1\n", Confirm: "00"}}},
		{"tool", `{"type":"tool","tool":"t","args":{"a":[1]},"session":"s"}`,
			Request{Type: "tool", Body: &Tool{Tool: "t", Args: []byte(`{"a":[1]}`), Session: "s"}}},
		{"watch-pin", `{"type":"watch","pin":5,"edge":"both"}`, Request{Type: "watch", Body: &Watch{Pin: ptr(PinName("5")), Edge: "both"}}},
		{"watch-adc", `{"type":"watch","adc":"T","above":1,"below":-0.5,"hysteresis":0,"pin":null}`,
			Request{Type: "watch", Body: &Watch{ADC: ptr(PinName("T")), Above: ptr(1.0), Below: ptr(-0.5), Hysteresis: ptr(0.0)}}},
		{"fs-put", `{"type":"fs","op":"put","path":"/a","offset":3,"data_b64":"aGk=","sha256":"00"}`,
			Request{Type: "fs", Body: &FS{Op: "put", Path: "/a", Offset: 3, Data: []byte("hi"), SHA256: "00"}}},
		{"later-type-with-fields", `{"type":"node","tool":"t","args":{"a":[1]},"meta":{"k":1}}`,
			Request{Type: "node", Meta: []byte(`{"k":1}`), Body: &Unavailable{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode([]byte(tt.msg))
			if err != nil {
				t.Fatalf("Decode(%.200q): got error %v, want none", tt.msg, err)
			}
			tt.want.Version, tt.want.Hash = "1", sha256.Sum256([]byte(tt.msg))
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("Decode(%.200q): want -, got +:\n%s", tt.msg, diff)
			}
		})
	}
}

func TestDecodeKeepsNothingOfTheMessage(t *testing.T) {
	msg := []byte(`{"id":"a","type":"ping","meta":{"k":"v"}}`)
	req, err := Decode(msg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range msg {
		msg[i] = 'x'
	}
	if got, want := string(req.Meta), `{"k":"v"}`; got != want || *req.ID != "a" {
		t.Errorf("after the buffer was used again: got meta %s id %s, want %s a", got, *req.ID, want)
	}
}

// A type of the protocol that the product has not yet is told apart from one that is unknown.
func TestDecodeLaterTypes(t *testing.T) {
	later := strings.Fields(`forward node trace policy device lua`)
	for _, typ := range later {
		req, err := Decode(fmt.Appendf(nil, `{"type":%q,"anything":[{"x":1}]}`, typ))
		if err != nil {
			t.Errorf("type %s: got error %v, want none", typ, err)
			continue
		}
		if _, ok := req.Body.(*Unavailable); !ok || req.Type != typ {
			t.Errorf("type %s: got type %s body %T, want *Unavailable", typ, req.Type, req.Body)
		}
		_, err = Decode(fmt.Appendf(nil, `{"type":%q,"a":1,"A":2}`, typ))
		wantCode(t, err, CodeBadJSON)
	}
}

func wantCode(t *testing.T, err error, want Code) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got error %v (%T), want an *Error with code %s", err, err, want)
	}
	if e.Code != want {
		t.Fatalf("got code %s (%s), want %s", e.Code, e.Message, want)
	}
	return e
}

func TestDecodeSeedRequests(t *testing.T) {
	want := map[string]*Request{
		"exec-full.json": {ID: ptr("msg_001"), Type: "exec",
			Body: &Exec{Code: "led = Pin(5, Pin.OUT); led.on()", TimeoutMS: ptr(int64(10000))}},
		"exec-post.json": {ID: ptr("msg_001"), Type: "exec",
			Body: &Exec{Code: "from machine import Pin; Pin(5, Pin.OUT).on()", TimeoutMS: ptr(int64(10000))}},
		"exec-scan.json": {ID: ptr("1"), Type: "exec", Body: &Exec{Code: "import machine; [hex(d) for d in I2C(0).scan()]"}},
		"exec-led.json":  {ID: ptr("2"), Type: "exec", Body: &Exec{Code: "from machine import Pin; led=Pin(5,Pin.OUT); led.on()"}},
		"exec-adc.json":  {Type: "exec", Body: &Exec{Code: "ADC(Pin(1)).read()"}},
		"register.json":  {Type: "register", Body: &Register{Brief: &Brief{Name: "blink", IntervalMS: ptr(int64(200))}, Code: "..."}},
	}
	got := map[string]*Request{}
	for file, msg := range seedFiles(t, "requests") {
		req, err := Decode(msg)
		if err != nil {
			t.Errorf("%s: got error %v, want none", file, err)
			continue
		}
		if req.Hash != sha256.Sum256(msg) {
			t.Errorf("%s: got hash %x, want that of the message's bytes", file, req.Hash)
		}
		req.Version, req.Hash = "", [32]byte{}
		got[file] = req
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seed requests: want -, got +:\n%s", diff)
	}
}

// seedFiles returns the seed's example messages of a kind by file name.
func seedFiles(t testing.TB, kind string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "seed", kind, "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("seed examples: got %v, %v; want some", paths, err)
	}
	files := make(map[string][]byte, len(paths))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = content
	}
	return files
}

func BenchmarkDecodeExec(b *testing.B) {
	msg := []byte(`{"version":"1","id":"msg_001","type":"exec","code":"from machine import Pin; Pin(5, Pin.OUT).on()","timeout_ms":10000}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		if _, err := Decode(msg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeResult(b *testing.B) {
	res := Result{Header: NewHeader(ptr("msg_001"), AnswerResult), Stdout: "1\n", ExecTimeMS: 1, Guard: "enforced", Session: "main",
		Effects: []Effect{{Pin: "5", Name: "LED", To: 1, AtUS: 40, ReadBack: 1}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Encode(res); err != nil {
			b.Fatal(err)
		}
	}
}

// The worst message must not be a way to keep the guard busy.
func BenchmarkDecodeHostile(b *testing.B) {
	fill := func(part string) string { return strings.Repeat(part, (limits.MessageBytes-200)/len(part)) }
	var wide strings.Builder
	for i := 0; wide.Len() < limits.MessageBytes-200; i++ {
		fmt.Fprintf(&wide, `"%x":0,`, i)
	}
	for name, msg := range map[string]string{
		"wide":    `{` + wide.String() + `"id":"a"}`,
		"folded":  `{"meta":{` + strings.ReplaceAll(wide.String()[:limits.MessageBytes/2], `":`, "\u212a\":") + `0":0}}`,
		"lists":   `{"meta":{"a":[` + fill(`[],`) + `0]}}`,
		"objects": `{"meta":{"a":[` + fill(`{"a":0},`) + `0]}}`,
		"deep":    strings.Repeat(`{"a":`, limits.MessageBytes/5),
		"escapes": `{"code":"` + fill(`\u0000`) + `"}`,
		"string":  `{"code":"` + fill(`x`) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if req, _ := Decode([]byte(msg)); req == nil {
					b.Fatal("got no request")
				}
			}
		})
	}
}
