package protocol

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func TestDecodeRefusesOfTasks(t *testing.T) {
	long := strings.Repeat("x", limits.NameBytes+1)
	register := func(brief string) string { return `{"brief":{` + brief + `},"code":"y"}` }
	every := func(more string) string { return register(`"name":"x","interval_ms":10,` + more) }
	tests := []struct {
		name string
		msg  string
		code Code
		say  string // part of the message: it must name what is wrong
	}{
		{"no-brief", `{"type":"register","code":"y"}`, CodeBadRequest, "brief is required"},
		{"brief-null", `{"type":"register","brief":null,"code":"y"}`, CodeBadRequest, "brief is required"},
		{"brief-text", `{"brief":"x","code":"y"}`, CodeBadRequest, `"brief" must be an object`},
		{"no-code", `{"brief":{"name":"x","interval_ms":10}}`, CodeBadRequest, "code is required"},
		{"code-empty", `{"brief":{"name":"x","interval_ms":10},"code":""}`, CodeBadRequest, "code must not be empty"},
		{"code-too-long", `{"brief":{"name":"x","interval_ms":10},"code":"` + strings.Repeat("x", limits.CodeBytes+1) + `"}`, CodeTooLarge, "code"},
		{"no-name", register(`"interval_ms":10`), CodeBadRequest, "name must not be empty"},
		{"name-long", register(`"name":"` + long + `","interval_ms":10`), CodeTooLarge, "name"},
		{"name-control", register(`"name":"a\u001b[2J","interval_ms":10`), CodeBadRequest, "name must not contain the character U+001B"},
		{"no-time", register(`"name":"x"`), CodeBadRequest, "one of interval_ms, cron, at and after_ms"},
		{"two-times", every(`"cron":"* * * * *"`), CodeBadRequest, "one of interval_ms, cron, at and after_ms"},
		{"two-times-of-zero", every(`"after_ms":0`), CodeBadRequest, "one of interval_ms, cron, at and after_ms"},
		{"interval-short", register(`"name":"x","interval_ms":9`), CodeBadRequest, "interval_ms must be from 10 to"},
		{"interval-negative", register(`"name":"x","interval_ms":-200`), CodeBadRequest, "interval_ms must be from 10 to"},
		{"interval-long", register(`"name":"x","interval_ms":31622400001`), CodeBadRequest, "to 31622400000"},
		{"interval-fraction", register(`"name":"x","interval_ms":10.5`), CodeBadRequest, `"interval_ms" must be a whole number`},
		{"interval-text", register(`"name":"x","interval_ms":"200"`), CodeBadRequest, `"interval_ms" must be a whole number`},
		{"after-negative", register(`"name":"x","after_ms":-1`), CodeBadRequest, "after_ms must be from 0 to"},
		{"cron-long", register(`"name":"x","cron":"` + strings.Repeat("*", limits.CronBytes+1) + `"`), CodeTooLarge, "cron"},
		{"zone-control", register(`"name":"x","cron":"* * * * *","time_zone":"a\n"`), CodeBadRequest, "time_zone must not contain"},
		{"at-without-zone", register(`"name":"x","at":"2026-12-24T18:00:00"`), CodeBadRequest, "at must be a time of RFC 3339"},
		{"at-words", register(`"name":"x","at":"tomorrow"`), CodeBadRequest, "at must be a time of RFC 3339"},
		{"timeout-zero", every(`"timeout_ms":0`), CodeBadRequest, "timeout_ms must be 1 or more"},
		{"storage", every(`"storage":"disk"`), CodeBadRequest, `storage cannot be "disk"`},
		{"misfire", every(`"misfire":"twice"`), CodeBadRequest, `misfire cannot be "twice"`},
		{"hub-loss", every(`"on_hub_loss":"stop"`), CodeBadRequest, `on_hub_loss cannot be "stop"`},
		{"runs-none", every(`"max_runs":0`), CodeBadRequest, "max_runs must be from 1 to"},
		{"jitter-negative", every(`"jitter_ms":-1`), CodeBadRequest, "jitter_ms must be from 0 to"},
		{"brief-unknown", every(`"every":5`), CodeBadRequest, `unknown field "every"`},
		{"brief-in-capitals", register(`"Name":"x","interval_ms":10`), CodeBadRequest, `unknown field "Name"`},
		{"brief-duplicate", every(`"Interval_MS":20`), CodeBadJSON, "stands twice"},

		{"resources-text", every(`"resources":"LED"`), CodeBadRequest, `"resources" must be a list`},
		{"resources-null", every(`"resources":[null]`), CodeBadRequest, "resources must be names"},
		{"resources-nested", every(`"resources":[["LED"]]`), CodeBadRequest, "resources must be names"},
		{"resource-empty", every(`"resources":[""]`), CodeBadRequest, "resource must not be empty"},
		{"resource-only-verb", every(`"resources":[":read"]`), CodeBadRequest, "resource must not be empty"},
		{"resource-none", every(`"resources":[{"verb":"read"}]`), CodeBadRequest, "resource must not be empty"},
		{"resource-fraction", every(`"resources":[5.0]`), CodeBadRequest, "whole number"},
		{"resource-negative", every(`"resources":["LED",-1]`), CodeBadRequest, "resources must be a name or a whole number"},
		{"resource-long", every(`"resources":["` + long + `"]`), CodeTooLarge, "resource"},
		{"resource-control", every(`"resources":["a\u202eb"]`), CodeBadRequest, "U+202E"},
		{"resource-unknown-field", every(`"resources":[{"resource":"LED","verbs":"read"}]`), CodeBadRequest, `unknown field "verbs"`},
		{"verb-unknown", every(`"resources":["LED:write"]`), CodeBadRequest, `verb cannot be "write"`},
		{"verb-empty", every(`"resources":["LED:"]`), CodeBadRequest, "after a colon"},
		{"verb-twice", every(`"resources":["LED:read:drive"]`), CodeBadRequest, `verb cannot be "read:drive"`},
		{"verb-in-capitals", every(`"resources":[{"resource":5,"verb":"READ"}]`), CodeBadRequest, `verb cannot be "READ"`},
		{"too-many-resources", every(`"resources":[` + strings.Repeat(`1,`, limits.ListItems) + `1]`), CodeTooLarge, "resources has more than 64"},

		{"cancel-nothing", `{"type":"cancel"}`, CodeBadRequest, "task_id is required"},
		{"pause-empty", `{"type":"pause","task_id":""}`, CodeBadRequest, "task_id must not be empty"},
		{"resume-number", `{"type":"resume","task_id":1}`, CodeBadRequest, `"task_id" must be a string`},
		{"trigger-long", `{"type":"trigger","task_id":"` + long + `"}`, CodeTooLarge, "task_id"},
		{"results-none", `{"type":"task_result","task_id":"1","limit":0}`, CodeBadRequest, "limit must be from 1 to"},
		{"list-with-field", `{"type":"list","task_id":"1"}`, CodeBadRequest, `unknown field "task_id"`},

		{"lease-empty-list", `{"type":"lease","resources":[]}`, CodeBadRequest, "a lease needs resources"},
		{"lease-only-ttl", `{"type":"lease","ttl_ms":5}`, CodeBadRequest, "a lease needs resources"},
		{"lease-only-keep", `{"type":"lease","keep":true}`, CodeBadRequest, "a lease needs resources"},
		{"lease-renew-and-take", `{"type":"lease","lease_id":"l","resources":["LED"]}`, CodeBadRequest, "lease_id renews"},
		{"lease-renew-and-keep", `{"type":"lease","lease_id":"l","keep":true}`, CodeBadRequest, "lease_id renews"},
		{"lease-verb", `{"type":"lease","resources":["LED"],"verb":"own"}`, CodeBadRequest, `verb cannot be "own"`},
		{"lease-ttl-zero", `{"type":"lease","resources":["LED"],"ttl_ms":0}`, CodeBadRequest, "ttl_ms must be 1 or more"},
		{"lease-ttl-overflows", `{"type":"lease","resources":["LED"],"ttl_ms":9223372036855}`, CodeBadRequest, "ttl_ms is longer"},
		{"lease-id-long", `{"type":"lease","lease_id":"` + long + `"}`, CodeTooLarge, "lease_id"},
		{"release-nothing", `{"type":"lease_release"}`, CodeBadRequest, "lease_id is required"},

		{"approval-no-op", `{"type":"approval"}`, CodeBadRequest, "op is required"},
		{"approval-op", `{"type":"approval","op":"grant","approval_id":"a"}`, CodeBadRequest, `unknown op "grant"`},
		{"approve-nothing", `{"type":"approval","op":"approve"}`, CodeBadRequest, "approval_id is required"},
		{"deny-empty", `{"type":"approval","op":"deny","approval_id":""}`, CodeBadRequest, "approval_id must not be empty"},
		{"deny-long", `{"type":"approval","op":"deny","approval_id":"a","reason":"` + strings.Repeat("x", limits.ReasonBytes+1) + `"}`, CodeTooLarge, "reason"},

		{"audit-op", `{"type":"audit","op":"rm"}`, CodeBadRequest, `unknown op "rm"`},
		{"audit-show-nothing", `{"type":"audit","op":"show"}`, CodeBadRequest, "trace is required"},
		{"audit-since-negative", `{"type":"audit","op":"tail","since":-1}`, CodeBadRequest, `"since" must be a whole number of 0 or more`},
		{"audit-limit", `{"type":"audit","op":"tail","limit":0}`, CodeBadRequest, "limit must be from 1 to"},
		{"audit-head", `{"type":"audit","op":"verify","head":"` + strings.Repeat("x", limits.ReasonBytes+1) + `"}`, CodeTooLarge, "head"},

		{"safe-mode-no-op", `{"type":"safe_mode"}`, CodeBadRequest, "op is required"},
		{"safe-mode-enter", `{"type":"safe_mode","op":"enter"}`, CodeBadRequest, `unknown op "enter"`},
		{"apply-nothing", `{"type":"board","op":"apply","confirm":"0"}`, CodeBadRequest, "source is required"},
		{"apply-unseen", `{"type":"board","op":"apply","source":"x"}`, CodeBadRequest, "confirm is required"},
		{"apply-confirm-long", `{"type":"board","op":"apply","source":"x","confirm":"` + long + `"}`, CodeTooLarge, "confirm"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := Decode([]byte(tt.msg))
			if e := wantCode(t, err, tt.code); !strings.Contains(e.Message, tt.say) {
				t.Errorf("got message %q, want it to say %q", e.Message, tt.say)
			}
			if req.Body != nil || req.Hash != [32]byte{} {
				t.Errorf("got body %v, hash %x; want nothing of a refused message", req.Body, req.Hash)
			}
		})
	}
}

// Bounds are the first and the last that is allowed.
func TestDecodeBoundsOfTasks(t *testing.T) {
	for _, brief := range []string{
		`"interval_ms":10`, `"interval_ms":31622400000`, `"after_ms":0`, `"at":"2026-12-24T18:00:00Z"`,
		`"interval_ms":10,"max_runs":9223372036854775807`,
		`"interval_ms":10,"resources":[` + strings.Repeat(`1,`, limits.ListItems-1) + `1]`,
	} {
		if _, err := Decode([]byte(`{"brief":{"name":"` + strings.Repeat("x", limits.NameBytes) + `",` + brief + `},"code":"y"}`)); err != nil {
			t.Errorf("%.60s: got %v, want no error", brief, err)
		}
	}
}

func TestEncodeOfTasks(t *testing.T) {
	head := func(typ string) Header { return NewHeader(ptr("a"), typ) }
	tests := []struct {
		answer Answer
		want   string
	}{
		{TaskAnswer{Header: head(AnswerTask), TaskID: "001", Status: "registered", NextMS: 1719552000000},
			`"type":"task","task_id":"001","status":"registered","next":1719552000000}`},
		{TaskAnswer{Header: head(AnswerTask), TaskID: "001", Status: "paused", Task: &TaskInfo{TaskID: "001", Name: "x", Actor: "b", State: "paused",
			Reason: "5 failures", Brief: Brief{Name: "x", IntervalMS: ptr(int64(200)), Resources: []ResourceUse{{"LED", ""}, {"T", "read"}}}, Failures: 5, Runs: 9}},
			`"type":"task","task_id":"001","status":"paused","task":{"task_id":"001","name":"x","actor":"b","state":"paused","reason":"5 failures",` +
				`"brief":{"name":"x","interval_ms":200,"resources":[{"resource":"LED"},{"resource":"T","verb":"read"}]},"code_sha256":"","created_ms":0,"runs":9,"failures":5}}`},
		{Tasks{Header: head(AnswerTasks)}, `"type":"tasks","tasks":[]}`},
		{TaskResults{Header: head(AnswerTaskResult), TaskID: "001"}, `"type":"task_result","task_id":"001","runs":[]}`},
		{Leases{Header: head(AnswerLease), Leases: []LeaseInfo{{LeaseID: "l", Holder: "b", Resources: []ResourceUse{{"5", "drive"}}, SinceMS: 1, ExpiresMS: 2, Keep: true}}},
			`"type":"lease","leases":[{"lease_id":"l","holder":"b","resources":[{"resource":"5","verb":"drive"}],"since_ms":1,"expires_ms":2,"keep":true}]}`},
		{Approvals{Header: head(AnswerApproval), Approvals: []ApprovalInfo{{ApprovalID: "ap", Actor: "b", Pin: "HEATER", Verb: "drive", State: "pending"}}},
			`"type":"approval","approvals":[{"approval_id":"ap","actor":"b","pin":"HEATER","verb":"drive","code_sha256":"","asked_ms":0,"expires_ms":0,"state":"pending"}]}`},
		{AuditAnswer{Header: head(AnswerAudit), Entries: []jsontext.Value{jsontext.Value(`{"seq":1}`)}, End: "1:ab", More: true},
			`"type":"audit","entries":[{"seq":1}],"head":"1:ab","more":true}`},
		{AuditAnswer{Header: head(AnswerAudit), Report: &AuditReport{Entries: 3, First: 1, Last: 3, Bad: 2, Problem: "hash"}},
			`"type":"audit","report":{"entries":3,"first":1,"last":3,"checkpoints":0,"bad":2,"problem":"hash"}}`},
		{SafeModeAnswer{Header: head(AnswerSafeMode)}, `"type":"safe_mode","active":false,"failed_starts":0}`},
		{Refuse(ptr("a"), &Error{Code: CodeApprovalNeeded, Message: "a person has to approve", ApprovalID: "ap"}),
			`"type":"result","stdout":"","stderr":"","error":true,"exec_time_ms":0,"truncated":false,"code":"approval_needed","message":"a person has to approve","approval_id":"ap"}`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(`{"version":"1","id":"a",`+tt.want, mustEncode(t, tt.answer)); diff != "" {
			t.Errorf("%T: want -, got +:\n%s", tt.answer, diff)
		}
	}
}
