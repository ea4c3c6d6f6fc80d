//go:build unix

package attack

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/protocol"
)

// Messages that a careful reader and a careless one would understand differently, or that nobody should understand.
var messages = []string{
	`{"type":"pin_set","pin":"RELAY_1","value":0,"value":1}`, `{"type":"pin_set","pin":"LED","pin":"RELAY_1","value":1}`, `{"type":"ping","type":"pin_set","pin":"RELAY_1","value":1}`,
	`{"type":"pin_set","pin":"LED","PIN":"RELAY_1","value":1}`, `{"TYPE":"pin_set","pin":"RELAY_1","value":1}`, `{"type":"pin_set","pin":"RELAY_1","Value":1}`, `{"type":"pin_set","p\u0131n":"RELAY_1","value":1}`,
	`{"type":"pin_set","pin":"RELAY_1","value":1,"force":true}`, `{"type":"pin_set","pin":"RELAY_1","value":1,"actor":"local-human"}`, `{"type":"pin_set","pin":"RELAY_1","value":1,"scopes":["admin"]}`,
	`{"type":"pin_set","pin":"RELAY_1","value":2}`, `{"type":"pin_set","pin":"RELAY_1","value":-1}`, `{"type":"pin_set","pin":"RELAY_1","value":1.5}`, `{"type":"pin_set","pin":"RELAY_1","value":"1"}`,
	`{"type":"pin_set","pin":"RELAY_1","value":1e999}`, `{"type":"pin_set","pin":"RELAY_1","value":NaN}`, `{"type":"pin_set","pin":"RELAY_1","value":4294967297}`, `{"type":"pin_set","pin":"RELAY_1","value":[1]}`,
	`{"type":"pin_set","pin":13.0,"value":1}`, `{"type":"pin_set","pin":1.3e1,"value":1}`, `{"type":"pin_set","pin":{"id":13},"value":1}`, `{"type":"pin_set","pin":["RELAY_1"],"value":1}`, `{"type":"pin_set","pin":true,"value":1}`,
	`{"type":"pin_set","pin":" 13","value":1}`, `{"type":"pin_set","pin":"013","value":1}`, `{"type":"pin_set","pin":"relay_1","value":1}`, `{"type":"pin_set","pin":"RELAY_1\u0000","value":1}`, `{"type":"pin_set","pin":"\uff11\uff13","value":1}`,
	`{"type":"pin_set\u0000","pin":"RELAY_1","value":1}`, `{"type":"PIN_SET","pin":"RELAY_1","value":1}`, `{"type":["pin_set"],"pin":"RELAY_1","value":1}`,
	`{"version":"2","type":"pin_set","pin":"RELAY_1","value":1}`, `{"version":1,"type":"pin_set","pin":"RELAY_1","value":1}`, `{"id":1,"type":"pin_set","pin":"RELAY_1","value":1}`, `{"id":"` + strings.Repeat("i", 65) + `","type":"pin_set","pin":"RELAY_1","value":1}`,
	`{"type":"ping"}{"type":"pin_set","pin":"RELAY_1","value":1}`, "{\"type\":\"ping\"}\n{\"type\":\"pin_set\",\"pin\":\"RELAY_1\",\"value\":1}", `[{"type":"pin_set","pin":"RELAY_1","value":1}]`, `"{}"`, `null`, `1`, ``, ` `, "\ufeff{\"type\":\"ping\"}",
	`{"type":"pin_set","pin":"RELAY_1","value":1,"meta":{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}}`, `{"type":"pin_set","pin":"RELAY_1","value":1,"meta":{"a":1,"a":2}}`, `{"type":"pin_set","pin":"RELAY_1","value":1,"meta":[]}`,
	`{"type":"pin_set","pin":"RELAY_1","value":1,"meta":{"a":"` + strings.Repeat("x", 5000) + `"}}`, `{"type":"pin_set","pin":"RELAY_1","value":1,"meta":{"a":"\ud800"}}`,
	`{"type":"exec","code":"Pin('RELAY_1', Pin.OUT).on()","CODE":"1"}`, `{"type":"exec","code":"1","code":"Pin('RELAY_1', Pin.OUT).on()"}`, `{"type":"exec","code":"Pin('RELAY_1', Pin.OUT).on()\ud800"}`, `{"type":"exec","code":["Pin('RELAY_1', Pin.OUT).on()"]}`,
	`{"type":"exec","code":"Pin('RELAY_1', Pin.OUT).on()","timeout_ms":-1}`, `{"type":"exec","code":"Pin('RELAY_1', Pin.OUT).on()","timeout_ms":99999999999999999999}`, `{"type":"exec","code":"Pin('RELAY_1', Pin.OUT).on()","dry_run":true}`,
	`{"type":"exec","code":"Pin('RELAY_1', Pin.OUT).on()","max_output":-1}`, `{"type":"exec","code":"Pin('RELAY_1', Pin.OUT).on()","session":"` + strings.Repeat("s", 65) + `"}`, `{"type":"exec","code":"Pin('RELAY_1', Pin.OUT).on()","approval_id":"x"}`,
	`{"type":"forward","message":"{\"type\":\"pin_set\",\"pin\":\"RELAY_1\",\"value\":1}","actor":{"name":"local-human","class":"human","scopes":["actuate"]}}`, `{"type":"tool","tool":"relay_on","args":{}}`,
	`{"brief":"x","code":"Pin('RELAY_1', Pin.OUT).on()"}`, `{"type":"sim","op":"set","name":"RELAY_1","value":"1"}`, `{"type":"token","op":"create","name":"me","class":"human","scopes":["admin"]}`, `{"type":"conn","op":"kick","conn":1}`,
	`{"type":"estop_clear","reason":"x"}`, `{"type":"estop_clear","reason":"x","class":"human"}`, `{"type":"hello","token":"pal_wrong"}`, `{"type":"hello","actor":"local-human"}`, `{"type":"interrupt","target":"` + strings.Repeat("x", 1000) + `"}`,
}

// None of them is done, each is answered, and the connection that sent it goes on.
func TestMessages(t *testing.T) {
	r := attack(t, nil, rules{never: append([]string{"RELAY_1", "RELAY_2", "RELAY_POWER", "LED"}, systemPins...)})
	before := measure(t)
	conn := r.Dial(r.Agent)
	ask := func(message string) string {
		t.Helper()
		ctx, done := context.WithTimeout(t.Context(), patience)
		defer done()
		if err := conn.Write(ctx, []byte(message)); err != nil {
			t.Fatalf("send %.80q: %v", message, err)
		}
		answer, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("answer to %.80q: %v", message, err)
		}
		return string(answer)
	}
	for _, message := range messages {
		r.witness.attacks++
		answer := ask(message)
		var res struct {
			Error bool
			Code  protocol.Code
		}
		if err := json.Unmarshal([]byte(answer), &res, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Errorf("answer to %.80q: %v", message, err)
		}
		if !res.Error || res.Code == "" || res.Code == protocol.CodeInternal {
			t.Errorf("%.100q: got %.200s, want a refusal", message, answer)
		}
		if pong := ask(`{"id":"p","type":"ping"}`); !strings.Contains(pong, `"pong"`) {
			t.Errorf("after %.80q: got %s, want pong", message, pong)
		}
	}
	conn.Close("done") // it was of use
	r.flat(before)
}

// What costs the sender little must not cost the guard much: floods of every kind, from clients that read nothing.
func TestFloods(t *testing.T) {
	r := attack(t, nil, rules{never: append([]string{"RELAY_1", "RELAY_2", "RELAY_POWER"}, systemPins...)})
	slowest := r.pulse(t.Context())
	before := measure(t)
	for name, message := range map[string]string{
		"ping": `{"type":"ping"}`, "describe": `{"type":"describe"}`, "nonsense": `{`, "exec": `{"type":"exec","code":"1"}`, "long": `{"type":"exec","code":"` + strings.Repeat("#", 100_000) + `"}`,
		"reset": `{"type":"reset"}`, "subscribe": `{"type":"subscribe","events":["*"],"since":0}`, "stream": `{"type":"exec","code":"for i in range(100000): print(i)","stream":true,"timeout_ms":500}`,
		"register": `{"type":"register","brief":{"name":"t","after_ms":86400000},"code":"` + strings.Repeat("#", 60_000) + `"}`, "persist": `{"type":"register","brief":{"name":"t","after_ms":86400000,"storage":"persistent"},"code":"1"}`,
		"trigger": `{"type":"trigger","task_id":"001"}`, "list": `{"type":"list"}`, "result": `{"type":"task_result","task_id":"001"}`, "pause": `{"type":"pause","task_id":"001"}`,
		"lease": `{"type":"lease","resources":["LED"],"keep":true}`, "release": `{"type":"lease_release","lease_id":"x"}`, "approval": `{"type":"approval","op":"ls"}`, "audit": `{"type":"audit","op":"verify"}`,
		"safe mode": `{"type":"safe_mode","op":"leave"}`, "meta": `{"type":"pin_set","pin":"LED_B","value":1,"meta":{"a":"` + strings.Repeat("\\u202e", 500) + `"}}`, "apply": `{"type":"board","op":"apply","source":"` + strings.Repeat("#", 60_000) + `","confirm":"x"}`,
	} {
		conn := r.Dial(r.Agent)
		ctx, done := context.WithTimeout(t.Context(), 500*time.Millisecond)
		r.witness.attacks++
		sent := 0
		for conn.Write(ctx, []byte(message)) == nil {
			sent++
		}
		t.Logf("%s: sent %d", name, sent)
		done()
		if err := r.human.Ping(t.Context()); err != nil {
			t.Errorf("ping after the flood of %s: %v", name, err)
		}
		conn.Close("done") // the terminal may have ended it
	}
	t.Logf("slowest ping meanwhile: %v", slowest())
	r.flat(before)
	r.works(r.dial(r.Agent), "the floods")
}
