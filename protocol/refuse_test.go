package protocol

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func TestDecodeRefuses(t *testing.T) {
	long := strings.Repeat("x", limits.NameBytes+1)
	tests := []struct {
		name string
		msg  string
		code Code
		say  string // part of the message: it must name what is wrong
	}{
		{"empty", ``, CodeBadJSON, "one JSON object|ends in the middle"},
		{"blank", ` `, CodeBadJSON, "ends in the middle"},
		{"text", `hello`, CodeBadJSON, "not JSON in UTF-8 at byte 0"},
		{"list", `[{"code":"x"}]`, CodeBadJSON, "one JSON object"},
		{"string", `"code"`, CodeBadJSON, "one JSON object"},
		{"null", `null`, CodeBadJSON, "one JSON object"},
		{"cut-off", `{"code":"x"`, CodeBadJSON, "ends in the middle"},
		{"cut-off-string", `{"code":"x`, CodeBadJSON, "ends in the middle"},
		{"two-values", `{"code":"x"}{"code":"y"}`, CodeBadJSON, "more than one JSON value"},
		{"rubbish-after", `{"code":"x"}]`, CodeBadJSON, "not JSON"},
		{"trailing-comma", `{"code":"x",}`, CodeBadJSON, "not JSON"},
		{"comment", `{"code":"x"/**/}`, CodeBadJSON, "not JSON"},
		{"single-quotes", `{'code':'x'}`, CodeBadJSON, "not JSON"},
		{"byte-order-mark", "\ufeff" + `{"code":"x"}`, CodeBadJSON, "not JSON"},
		{"nan", `{"code":"x","timeout_ms":NaN}`, CodeBadJSON, "not JSON"},
		{"raw-newline-in-string", "{\"code\":\"a\nb\"}", CodeBadJSON, "not JSON"},
		{"raw-nul-in-string", "{\"code\":\"a\x00b\"}", CodeBadJSON, "not JSON"},
		{"nul-after", "{\"code\":\"a\"}\x00", CodeBadJSON, "not JSON"},
		{"not-utf8-value", "{\"code\":\"\xff\"}", CodeBadJSON, "UTF-8"},
		{"not-utf8-name", "{\"co\xffde\":\"x\"}", CodeBadJSON, "UTF-8"},
		{"not-utf8-in-meta", "{\"code\":\"x\",\"meta\":{\"a\":\"\xc3\"}}", CodeBadJSON, "UTF-8"},
		{"surrogate-in-utf8", "{\"code\":\"\xed\xa0\x80\"}", CodeBadJSON, "UTF-8"},
		{"overlong-utf8", "{\"code\":\"\xc0\xaf\"}", CodeBadJSON, "UTF-8"},
		{"lone-high-surrogate", `{"code":"\ud800"}`, CodeBadJSON, "surrogate"},
		{"lone-low-surrogate", `{"code":"\udc00"}`, CodeBadJSON, "surrogate"},
		{"surrogates-swapped", `{"code":"\ude00\ud83d"}`, CodeBadJSON, "surrogate"},
		{"surrogate-in-meta", `{"code":"x","meta":{"a":["\ud800"]}}`, CodeBadJSON, "surrogate"},
		{"surrogate-in-name", `{"code":"x","\ud800":1}`, CodeBadJSON, "surrogate"},

		{"duplicate", `{"code":"a","code":"b"}`, CodeBadJSON, `"code" stands twice`},
		{"duplicate-same-value", `{"code":"a","code":"a"}`, CodeBadJSON, `"code" stands twice`},
		{"duplicate-null", `{"code":"a","code":null}`, CodeBadJSON, `"code" stands twice`},
		{"duplicate-escaped", `{"code":"a","c\u006fde":"b"}`, CodeBadJSON, `"code" stands twice`},
		{"duplicate-case", `{"code":"a","CODE":"b"}`, CodeBadJSON, `"CODE" stands twice`},
		{"duplicate-case-kelvin", `{"code":"a","token":"a","to` + "\u212a" + `en":"b"}`, CodeBadJSON, "stands twice"},
		{"duplicate-case-long-s", `{"code":"a","session":"a","\u017fession":"b"}`, CodeBadJSON, "stands twice"},
		{"duplicate-in-meta", `{"code":"a","meta":{"x":1,"x":2}}`, CodeBadJSON, `"x" stands twice`},
		{"duplicate-case-in-meta", `{"code":"a","meta":{"k":{"pin":1,"Pin":2}}}`, CodeBadJSON, `"Pin" stands twice`},
		{"duplicate-among-many", `{"code":"a","meta":{` + manyNames(40) + `,"N7":0}}`, CodeBadJSON, `"N7" stands twice`},
		{"too-deep-objects", `{"code":"a","meta":` + nested(limits.JSONDepth, `{"a":`, "}") + `}`, CodeBadJSON, "deeper than 32"},
		{"too-deep-lists", `{"code":"a","x":` + nested(limits.JSONDepth, "[", "]") + `}`, CodeBadJSON, "deeper than 32"},
		{"too-deep-unclosed", strings.Repeat(`{"a":[`, limits.MessageBytes/6), CodeBadJSON, "deeper than 32"},

		{"too-large", `{"code":"` + strings.Repeat("x", limits.MessageBytes) + `"}`, CodeTooLarge, "message"},
		{"code-too-large", `{"code":"` + strings.Repeat("x", limits.CodeBytes+1) + `"}`, CodeTooLarge, "code"},
		{"id-too-long", `{"id":"` + long + `","code":"x"}`, CodeTooLarge, "id is longer than 64"},
		{"session-too-long", `{"session":"` + long + `","code":"x"}`, CodeTooLarge, "session"},
		{"client-too-long", `{"type":"hello","client":"` + long + `"}`, CodeTooLarge, "client"},
		{"token-too-long", `{"type":"hello","token":"` + strings.Repeat("x", 513) + `"}`, CodeTooLarge, "token"},
		{"target-too-long", `{"type":"fetch","target":"` + long + `"}`, CodeTooLarge, "target"},
		{"reason-too-long", `{"type":"estop_clear","reason":"` + strings.Repeat("x", limits.ReasonBytes+1) + `"}`, CodeTooLarge, "reason"},
		{"event-name-too-long", `{"type":"subscribe","events":["` + long + `"]}`, CodeTooLarge, "events"},
		{"too-many-events", `{"type":"subscribe","events":[` + strings.Repeat(`"a",`, limits.ListItems) + `"a"]}`, CodeTooLarge, "events"},
		{"meta-too-large", `{"code":"x","meta":{"a":"` + strings.Repeat("x", limits.MetaBytes) + `"}}`, CodeTooLarge, "meta"},
		{"meta-of-later-type-too-large", `{"type":"lease","meta":{"a":"` + strings.Repeat("x", limits.MetaBytes) + `"}}`, CodeTooLarge, "meta"},

		{"version-2", `{"version":"2","code":"x"}`, CodeUnsupportedVersion, `"2"`},
		{"version-empty", `{"version":"","code":"x"}`, CodeUnsupportedVersion, `""`},
		{"version-before-fields", `{"version":"2","type":"new","news":1}`, CodeUnsupportedVersion, `"2"`},
		{"version-number", `{"version":1,"code":"x"}`, CodeBadRequest, "version must be a string"},
		{"id-number", `{"id":1,"code":"x"}`, CodeBadRequest, "id must be a string"},
		{"id-object", `{"id":{"a":1},"code":"x"}`, CodeBadRequest, "id must be a string"},
		{"type-number", `{"type":1,"code":"x"}`, CodeBadRequest, "type must be a string"},
		{"type-empty", `{"type":"","code":"x"}`, CodeBadRequest, "unknown type"},
		{"type-unknown", `{"type":"execute","code":"x"}`, CodeBadRequest, `unknown type "execute"`},
		{"type-in-capitals", `{"type":"EXEC","code":"x"}`, CodeBadRequest, `unknown type "EXEC"`},
		{"type-of-an-answer", `{"type":"welcome"}`, CodeBadRequest, `unknown type "welcome"`},
		{"type-too-long", `{"type":"` + long + `"}`, CodeBadRequest, "unknown type"},
		{"meta-list", `{"code":"x","meta":[]}`, CodeBadRequest, "meta must be an object"},
		{"meta-text", `{"code":"x","meta":"a"}`, CodeBadRequest, "meta must be an object"},

		{"unknown-field", `{"code":"x","timeout":5}`, CodeBadRequest, `unknown field "timeout"`},
		{"field-in-capitals", `{"CODE":"x"}`, CodeBadRequest, `unknown field "CODE"`},
		{"field-of-another-type", `{"type":"ping","code":"x"}`, CodeBadRequest, `unknown field "code"`},
		{"field-on-a-bare-type", `{"type":"pins","pin":"LED"}`, CodeBadRequest, `unknown field "pin"`},
		{"unknown-field-null", `{"code":"x","timeout":null}`, CodeBadRequest, `unknown field "timeout"`},
		{"nothing", `{}`, CodeBadRequest, "code is required"},
		{"code-null", `{"code":null}`, CodeBadRequest, "code is required"},
		{"code-number", `{"code":5}`, CodeBadRequest, `"code" must be a string`},
		{"code-list", `{"code":["x"]}`, CodeBadRequest, `"code" must be a string`},
		{"tool-args", `{"type":"tool","tool":"t","args":[1]}`, CodeBadRequest, "args must be an object"},
		{"tool-none", `{"type":"tool"}`, CodeBadRequest, "tool is required"},
		{"watch-nothing", `{"type":"watch"}`, CodeBadRequest, "one of pin and adc"},
		{"watch-both", `{"type":"watch","pin":1,"adc":2}`, CodeBadRequest, "one of pin and adc"},
		{"watch-edge", `{"type":"watch","pin":1,"edge":"up"}`, CodeBadRequest, "unknown edge"},
		{"watch-mixed", `{"type":"watch","pin":1,"above":2}`, CodeBadRequest, "belong to adc"},
		{"watch-number", `{"type":"watch","adc":1,"above":"2"}`, CodeBadRequest, "a number"},
		{"watch-nan", `{"type":"watch","adc":1,"above":NaN}`, CodeBadJSON, "not JSON"},
		{"watch-infinite", `{"type":"watch","adc":1,"above":1e999}`, CodeBadRequest, "above"},
		{"watch-hysteresis", `{"type":"watch","adc":1,"above":2,"hysteresis":-0.1}`, CodeBadRequest, "hysteresis must be 0 or more"},
		{"fs-op", `{"type":"fs","op":"format"}`, CodeBadRequest, "unknown op"},
		{"fs-path", `{"type":"fs","op":"get"}`, CodeBadRequest, "path is required"},
		{"fs-to", `{"type":"fs","op":"mv","path":"/a"}`, CodeBadRequest, "to is required"},
		{"fs-base64", `{"type":"fs","op":"put","path":"/a","data_b64":"a"}`, CodeBadRequest, "base64"},
		{"fs-offset", `{"type":"fs","op":"get","path":"/a","offset":-1}`, CodeBadRequest, "offset"},
		{"exec-with-tool", `{"code":"x","tool":"t"}`, CodeBadRequest, `type "tool"`},
		{"exec-with-tool-object", `{"code":"x","tool":{}}`, CodeBadRequest, `"tool" must be a string`},
		{"stream-number", `{"code":"x","stream":1}`, CodeBadRequest, `"stream" must be a boolean`},
		{"timeout-zero", `{"code":"x","timeout_ms":0}`, CodeBadRequest, "timeout_ms must be 1 or more"},
		{"timeout-negative", `{"code":"x","timeout_ms":-1}`, CodeBadRequest, "timeout_ms must be 1 or more"},
		{"timeout-fraction", `{"code":"x","timeout_ms":1.5}`, CodeBadRequest, `"timeout_ms" must be a whole number`},
		{"timeout-one-point-zero", `{"code":"x","timeout_ms":1.0}`, CodeBadRequest, `"timeout_ms" must be a whole number`},
		{"timeout-exponent", `{"code":"x","timeout_ms":1e3}`, CodeBadRequest, `"timeout_ms" must be a whole number`},
		{"timeout-huge", `{"code":"x","timeout_ms":9223372036854775808}`, CodeBadRequest, `"timeout_ms" must be a whole number`},
		{"timeout-string", `{"code":"x","timeout_ms":"1000"}`, CodeBadRequest, `"timeout_ms" must be a whole number`},
		{"ttl-zero", `{"code":"x","ttl_ms":0}`, CodeBadRequest, "ttl_ms must be 1 or more"},
		{"ttl-overflows", `{"code":"x","ttl_ms":9223372036855}`, CodeBadRequest, "ttl_ms is longer"},
		{"token-ttl-overflows", `{"type":"token","op":"create","ttl_ms":9223372036854775807}`, CodeBadRequest, "ttl_ms is longer"},
		{"max-output-zero", `{"code":"x","max_output":0}`, CodeBadRequest, "max_output must be from 1 to 65536"},
		{"max-output-over", `{"code":"x","max_output":65537}`, CodeBadRequest, "max_output must be from 1 to 65536"},
		{"session-control-character", `{"code":"x","session":"a\u001b[2J"}`, CodeBadRequest, "session must not contain the character U+001B"},
		{"session-bidi", `{"code":"x","session":"a\u202eb"}`, CodeBadRequest, "U+202E"},
		{"fetch-without-target", `{"type":"fetch"}`, CodeBadRequest, "target is required"},
		{"result-without-target", `{"type":"result","stdout":""}`, CodeBadRequest, `unknown field "stdout"`},
		{"interrupt-empty-target", `{"type":"interrupt","target":""}`, CodeBadRequest, "target must not be empty"},
		{"pin-missing", `{"type":"pin_read"}`, CodeBadRequest, "pin is required"},
		{"pin-null", `{"type":"pin_read","pin":null}`, CodeBadRequest, "pin is required"},
		{"pin-empty", `{"type":"pin_read","pin":""}`, CodeBadRequest, "pin must not be empty"},
		{"pin-negative", `{"type":"pin_read","pin":-1}`, CodeBadRequest, "pin must be a name or a whole number"},
		{"pin-fraction", `{"type":"pin_read","pin":5.0}`, CodeBadRequest, "pin must be a name or a whole number"},
		{"pin-list", `{"type":"pin_read","pin":[5]}`, CodeBadRequest, "pin must be a name or a whole number"},
		{"pin-too-long", `{"type":"pin_read","pin":"` + long + `"}`, CodeTooLarge, "pin"},
		{"level-missing", `{"type":"pin_set","pin":5}`, CodeBadRequest, "value is required"},
		{"level-null", `{"type":"pin_set","pin":5,"value":null}`, CodeBadRequest, "value is required"},
		{"level-two", `{"type":"pin_set","pin":5,"value":2}`, CodeBadRequest, "value must be 0, 1, true or false"},
		{"level-string", `{"type":"pin_set","pin":5,"value":"1"}`, CodeBadRequest, "value must be 0, 1, true or false"},
		{"level-string-true", `{"type":"pin_set","pin":5,"value":"true"}`, CodeBadRequest, "value must be 0, 1, true or false"},
		{"level-one-point-zero", `{"type":"pin_set","pin":5,"value":1.0}`, CodeBadRequest, "value must be 0, 1, true or false"},
		{"since-negative", `{"type":"subscribe","since":-1}`, CodeBadRequest, `"since" must be a whole number of 0 or more`},
		{"events-text", `{"type":"subscribe","events":"*"}`, CodeBadRequest, `"events" must be a list`},
		{"events-of-numbers", `{"type":"subscribe","events":[1]}`, CodeBadRequest, `"events" must be`},
		{"events-of-null", `{"type":"subscribe","events":[null]}`, CodeBadRequest, "item of events must not be empty"},
		{"op-missing", `{"type":"token"}`, CodeBadRequest, "op is required"},
		{"op-unknown", `{"type":"conn","op":"rm"}`, CodeBadRequest, `unknown op "rm"`},
		{"sim-without-op", `{"type":"sim","op":""}`, CodeBadRequest, "op must not be empty"},
		{"conn-negative", `{"type":"conn","op":"kick","conn":-1}`, CodeBadRequest, `"conn" must be a whole number of 0 or more`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := Decode([]byte(tt.msg))
			e := wantCode(t, err, tt.code)
			if !containsAny(e.Message, strings.Split(tt.say, "|")) {
				t.Errorf("got message %q, want it to say %q", e.Message, tt.say)
			}
			if req == nil {
				t.Fatal("got no request, want one that carries id and type")
			}
			if req.Body != nil || req.Meta != nil || req.Hash != [32]byte{} {
				t.Errorf("got body %v, meta %s, hash %x; want nothing of a refused message", req.Body, req.Meta, req.Hash)
			}
		})
	}
}

func manyNames(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"n%d":0`, i)
	}
	return strings.Join(all, ",")
}

func containsAny(s string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// A refusal carries the id of its message wherever that stands, as long as there is no doubt which it is.
func TestDecodeEchoesIDOfRefused(t *testing.T) {
	tests := []struct {
		name string
		msg  string
		id   *string
		typ  string
	}{
		{"before-the-fault", `{"id":"a","type":"ping","x":1}`, ptr("a"), "ping"},
		{"after-the-fault", `{"code":"a","code":"b","id":"a","type":"exec"}`, ptr("a"), "exec"},
		{"after-unknown-field", `{"x":1,"type":"ping","id":"a"}`, ptr("a"), "ping"},
		{"before-a-broken-end", `{"id":"a","type":"stop","reason":`, ptr("a"), "stop"},
		{"before-a-lone-surrogate", `{"id":"a","code":"\ud800"}`, ptr("a"), "exec"},
		{"before-too-deep", `{"id":"a","meta":` + strings.Repeat("[", 100), ptr("a"), "exec"},
		{"other-version", `{"version":"2","id":"a","type":"ping"}`, ptr("a"), "ping"},
		{"unknown-type", `{"id":"a","type":"nope"}`, ptr("a"), "nope"},
		{"inside-meta-is-no-id", `{"meta":{"id":"a"},"x":1}`, nil, "exec"},
		{"two-ids", `{"id":"a","id":"b","type":"ping"}`, nil, "ping"},
		{"two-ids-in-case", `{"id":"a","ID":"b","type":"ping"}`, nil, "ping"},
		{"number", `{"id":5,"type":"ping"}`, nil, "ping"},
		{"number-then-text", `{"id":5,"id":"a","type":"ping"}`, nil, "ping"},
		{"too-long", `{"id":"` + strings.Repeat("x", 65) + `","type":"ping"}`, nil, "ping"},
		{"null", `{"id":null,"type":"ping","x":1}`, nil, "ping"},
		{"type-too-long", `{"id":"a","type":"` + strings.Repeat("x", 65) + `"}`, ptr("a"), ""},
		{"type-no-text", `{"id":"a","type":5}`, ptr("a"), ""},
		{"no-object", `["id","a"]`, nil, "exec"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := Decode([]byte(tt.msg))
			if err == nil {
				t.Fatalf("Decode(%s): got no error, want one", tt.msg)
			}
			if diff := cmp.Diff(&Request{Version: "1", ID: tt.id, Type: tt.typ}, req); diff != "" {
				t.Errorf("Decode(%.100s): want -, got +:\n%s", tt.msg, diff)
			}
		})
	}
}

func TestDecodeSuggests(t *testing.T) {
	tests := []struct {
		msg  string
		want []string
	}{
		{`{"version":"2"}`, []string{"1"}},
		{`{"type":"conn","op":"rm"}`, []string{"ls", "kick"}},
		{`{"code":"x","zzz":1}`, nil},
	}
	for _, tt := range tests {
		_, err := Decode([]byte(tt.msg))
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("Decode(%s): got %v, want an *Error", tt.msg, err)
		}
		if diff := cmp.Diff(tt.want, e.Nearest); diff != "" {
			t.Errorf("Decode(%s).Nearest: want -, got +:\n%s", tt.msg, diff)
		}
	}
}

// What a hostile sender wrote stands in the error short, on one line and without control characters.
func TestDecodeErrorsAreHarmless(t *testing.T) {
	hostile := `\u001b[2J\n\u202e` + strings.Repeat("😀", 10_000)
	for _, msg := range []string{
		`{"code":"x","` + hostile + `":1}`,
		`{"` + hostile + `":1,"` + hostile + `":2}`,
		`{"type":"` + hostile + `"}`,
		`{"version":"` + hostile + `"}`,
		`{"type":"conn","op":"` + hostile + `"}`,
		`{"type":"pin_read","pin":1` + strings.Repeat("0", 10_000) + `}`,
		`{"code":1` + strings.Repeat("0", 10_000) + `}`,
	} {
		_, err := Decode([]byte(msg))
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("Decode(%.40s): got %v, want an *Error", msg, err)
		}
		if len(e.Message) > limits.ReasonBytes || strings.ContainsAny(e.Message, "\x1b\n\u202e") {
			t.Errorf("Decode(%.40s): got message %q, want a short, printable one", msg, e.Message)
		}
	}
}
