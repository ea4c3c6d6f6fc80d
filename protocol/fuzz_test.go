package protocol

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pal-terminal/pal/limits"
)

// FuzzDecode holds the codec to two promises: what it accepts reads the same to encoding/json, the most lenient reader
// around; and every refusal can be answered. That a client's encoding reads back the same is held by package client.
func FuzzDecode(f *testing.F) {
	for _, msg := range seedFiles(f, "requests") {
		f.Add(msg)
	}
	for _, msg := range []string{
		`{"code":"a","CODE":"b"}`, `{"code":"x","meta":{"a":[1,2.50,1e400,"\u2028",{"b":null}]},"timeout_ms":1}`,
		`{"id":"é","type":"pin_set","pin":5,"value":true}`, `{"type":"pin_read","pin":"LED"}`, `{"type":"result","target":"a"}`,
		`{"type":"token","op":"create","scopes":["read","exec"],"ask":true,"ttl_ms":9}`, `{"type":"conn","op":"kick","conn":-0}`,
		`{"type":"subscribe","events":["*"],"since":18446744073709551615}`, `{"type":"tool","tool":"x","args":{"ſ":1,"s":2}}`,
		`{"type":"hello","client":"c","frames":[]}`, `{"code":"\ud83d\ude00\u0000","echo":false,"tool":null}`,
		`{"brief":{"name":"x","interval_ms":200,"resources":["A:read",5,{"resource":6,"verb":"drive"}]},"code":"y"}`,
		`{"type":"register","brief":{"name":"x","cron":"0 6 * * 1-5","time_zone":"Asia/Shanghai","max_runs":3,"jitter_ms":0},"code":"y"}`,
		`{"type":"register","brief":{"name":"x","at":"2026-12-24T18:00:00+01:00","on_hub_loss":"hold","misfire":"once"},"code":"y"}`,
		`{"type":"task_result","task_id":"001","limit":3}`, `{"type":"lease","resources":["i2c0",0],"verb":"read","ttl_ms":9,"keep":true}`,
		`{"type":"lease","lease_id":"l"}`, `{"type":"lease_release","lease_id":"l"}`, `{"type":"safe_mode","op":"leave"}`,
		`{"type":"approval","op":"deny","approval_id":"a","reason":"no"}`, `{"type":"audit","op":"verify","head":"9:ab","since":0}`,
		`{"type":"board","op":"apply","source":"\n","confirm":"00"}`, `{"type":"status","task_id":null}`, `{"type":"stop","reason":"\ud800"}`, strings.Repeat(`{"meta":`, 40),
	} {
		f.Add([]byte(msg))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		before := bytes.Clone(msg)
		req, err := Decode(msg)
		if !bytes.Equal(msg, before) {
			t.Fatalf("got the message changed to %q, want %q", msg, before)
		}
		if err != nil {
			checkRefusal(t, req, err)
			return
		}
		checkAgainstStd(t, msg, req)
	})
}

func checkRefusal(t *testing.T, req *Request, err error) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got error %v (%T), want an *Error", err, err)
	}
	switch e.Code {
	case CodeBadJSON, CodeBadRequest, CodeUnsupportedVersion, CodeTooLarge:
	default:
		t.Fatalf("got code %s, want one that a decoder may give", e.Code)
	}
	if req == nil || req.Body != nil || req.ID != nil && len(*req.ID) > limits.IDBytes || len(req.Type) > limits.NameBytes {
		t.Fatalf("got request %+v with error %v, want id and type only", req, err)
	}
	out, err := Encode(Refuse(req.ID, e))
	if err != nil {
		t.Fatalf("encode the refusal: %v", err)
	}
	var res Result
	if err := json.Unmarshal(out, &res); err != nil {
		t.Fatalf("decode the refusal %s: %v", out, err)
	}
	if !res.Error || res.Code != e.Code || !cmp.Equal(res.ID, req.ID) {
		t.Fatalf("got refusal %+v, want code %s and id %v", res, e.Code, req.ID)
	}
}

// stdMap decodes one object as encoding/json sees it.
func stdMap(t *testing.T, msg []byte) map[string]any {
	t.Helper()
	dec := stdjson.NewDecoder(bytes.NewReader(msg))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("encoding/json refuses what was accepted: %v", err)
	}
	return m
}

// checkAgainstStd compares a decoded request with what encoding/json makes of the same bytes.
func checkAgainstStd(t *testing.T, msg []byte, req *Request) {
	t.Helper()
	var env struct {
		Version, ID, Type *string
		Meta              stdjson.RawMessage
	}
	if err := stdjson.Unmarshal(msg, &env); err != nil {
		t.Fatalf("encoding/json refuses what was accepted: %v", err)
	}
	if !cmp.Equal(env.ID, req.ID) || env.Version != nil && *env.Version != req.Version || (len(env.Meta) == 0 || string(env.Meta) == "null") != (req.Meta == nil) {
		t.Fatalf("got %+v, but encoding/json reads %+v", req, env)
	}
	if env.Type != nil && *env.Type != req.Type && (*env.Type != TypeResultQuery || req.Type != TypeFetch) {
		t.Fatalf("got type %s, but encoding/json reads %s", req.Type, *env.Type)
	}
	sent := stdMap(t, msg)
	if req.Meta != nil {
		if diff := cmp.Diff(sent["meta"], any(stdMap(t, req.Meta))); diff != "" {
			t.Fatalf("meta: encoding/json -, got +:\n%s", diff)
		}
	}
	switch body := req.Body.(type) {
	case *Unavailable: // its fields are not decoded
	case *PinRead:
		checkPin(t, body.Pin, sent["pin"])
	case *PinSet:
		checkPin(t, body.Pin, sent["pin"])
		if v := sent["value"]; (v == true || v == stdjson.Number("1")) != (body.Value == 1) {
			t.Fatalf("got level %d, but encoding/json reads %v", body.Value, v)
		}
	case nil:
	case *Register, *Lease:
		checkBody(t, plainUses(t, sent), body)
	default:
		checkBody(t, msg, body)
	}
}

// checkBody compares a body with what a lenient reader, which finds its fields by name in any case, makes of the message.
func checkBody(t *testing.T, msg []byte, body any) {
	t.Helper()
	std := reflect.New(reflect.TypeOf(body).Elem()).Interface()
	if err := stdjson.Unmarshal(msg, std); err != nil {
		t.Fatalf("encoding/json refuses what was accepted: %v", err)
	}
	if diff := cmp.Diff(std, body, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("encoding/json -, got +:\n%s", diff)
	}
}

// plainUses returns a message with its short forms of resources, texts and numbers, written out as objects.
func plainUses(t *testing.T, sent map[string]any) []byte {
	t.Helper()
	delete(sent, "meta")
	of := sent
	if brief, ok := sent["brief"].(map[string]any); ok {
		of = brief
	}
	uses, _ := of["resources"].([]any)
	for i, use := range uses {
		switch use := use.(type) {
		case map[string]any:
			use["resource"] = fmt.Sprint(use["resource"])
		default:
			resource, verb, _ := strings.Cut(fmt.Sprint(use), ":")
			uses[i] = map[string]any{"resource": resource, "verb": verb}
		}
	}
	plain, err := stdjson.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func checkPin(t *testing.T, got PinName, sent any) {
	t.Helper()
	switch v := sent.(type) {
	case string:
		if string(got) == v {
			return
		}
	case stdjson.Number:
		if string(got) == v.String() {
			return
		}
	}
	t.Fatalf("got pin %q, but encoding/json reads %v", got, sent)
}
