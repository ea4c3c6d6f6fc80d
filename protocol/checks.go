package protocol

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// Verbs of a resource.
const (
	VerbDrive = "drive"
	VerbRead  = "read"
)

// UnmarshalJSONFrom reads an object, or one string: "RELAY_1" or "TEMP_ADC:read". A pin may be a number.
func (u *ResourceUse) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '"', '0':
		var name PinName
		if err := name.UnmarshalJSONFrom(dec); err != nil {
			return err
		}
		resource, verb, ok := strings.Cut(string(name), ":")
		if ok && verb == "" {
			return &valueError{"must say drive or read after a colon"}
		}
		u.Resource, u.Verb = resource, verb
		return nil
	case '{':
		var w struct {
			Resource PinName `json:"resource"`
			Verb     string  `json:"verb"`
		}
		if err := json.UnmarshalDecode(dec, &w); err != nil {
			return err
		}
		u.Resource, u.Verb = string(w.Resource), w.Verb
		return nil
	default:
		return &valueError{"must be names of pins and buses, or objects with resource and verb"}
	}
}

func checkUses(list []ResourceUse) *Error {
	if len(list) > limits.ListItems {
		return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("resources has more than %d items", limits.ListItems)}
	}
	for _, u := range list {
		if err := first(filled("resource", u.Resource), name("resource", u.Resource, limits.NameBytes), oneOf("verb", u.Verb, VerbDrive, VerbRead)); err != nil {
			return err
		}
	}
	return nil
}

// oneOf allows an empty text or one of some words.
func oneOf(field, value string, words ...string) *Error {
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return &Error{Code: CodeBadRequest, Message: field + " cannot be " + quote(value), Nearest: words}
}

// between bounds a whole number that was given.
func between(field string, value *int64, least, most int64) *Error {
	if value == nil || *value >= least && *value <= most {
		return nil
	}
	return &Error{Code: CodeBadRequest, Message: fmt.Sprintf("%s must be from %d to %d", field, least, most)}
}

func (b *Brief) check() *Error {
	given := 0
	for _, is := range []bool{b.IntervalMS != nil, b.Cron != "", b.At != "", b.AfterMS != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return &Error{Code: CodeBadRequest, Message: "a brief has one of interval_ms, cron, at and after_ms"}
	}
	if b.At != "" {
		if _, err := time.Parse(time.RFC3339, b.At); err != nil {
			return &Error{Code: CodeBadRequest, Message: "at must be a time of RFC 3339, such as 2026-12-24T18:00:00+01:00"}
		}
	}
	longest := limits.TaskPeriodLongest.Milliseconds()
	return first(
		filled("name", b.Name), name("name", b.Name, limits.NameBytes),
		between("interval_ms", b.IntervalMS, limits.TaskPeriodLeast.Milliseconds(), longest),
		between("after_ms", b.AfterMS, 0, longest),
		name("cron", b.Cron, limits.CronBytes), name("time_zone", b.TimeZone, limits.NameBytes),
		milliseconds("timeout_ms", b.TimeoutMS),
		oneOf("storage", b.Storage, "volatile", "persistent"),
		checkUses(b.Resources),
		oneOf("misfire", b.Misfire, "skip", "once", "all"),
		oneOf("on_hub_loss", b.OnHubLoss, "continue", "hold"),
		between("max_runs", b.MaxRuns, 1, math.MaxInt64),
		between("jitter_ms", b.JitterMS, 0, longest),
	)
}

func (r *Register) check(present fields) *Error {
	if r.Brief == nil {
		return required(present, "brief")
	}
	return first(r.Brief.check(), required(present, "code"), filled("code", r.Code), length("code", r.Code, limits.CodeBytes))
}

func (t *TaskRef) check(present fields) *Error {
	return first(word(present, "task_id", t.TaskID, limits.NameBytes), between("limit", t.Limit, 1, math.MaxInt64))
}

func (l *Lease) check(present fields) *Error {
	if l.LeaseID != "" && (len(l.Resources) > 0 || l.Keep) {
		return &Error{Code: CodeBadRequest, Message: "lease_id renews a lease: resources and keep belong to a new one"}
	}
	if l.LeaseID == "" && len(l.Resources) == 0 && (present.has("resources") || l.Verb != "" || l.TTLMS != nil || l.Keep) {
		return &Error{Code: CodeBadRequest, Message: "a lease needs resources, a renewal lease_id; a list has no fields"}
	}
	return first(
		name("lease_id", l.LeaseID, limits.NameBytes), checkUses(l.Resources), oneOf("verb", l.Verb, VerbDrive, VerbRead), milliseconds("ttl_ms", l.TTLMS),
	)
}

func (l *LeaseRelease) check(present fields) *Error {
	return word(present, "lease_id", l.LeaseID, limits.NameBytes)
}

func (a *Approval) check(present fields) *Error {
	err := first(op(present, a.Op, "ls", "show", "approve", "deny"), name("approval_id", a.ApprovalID, limits.NameBytes), length("reason", a.Reason, limits.ReasonBytes))
	if err == nil && a.Op != "ls" {
		err = first(required(present, "approval_id"), filled("approval_id", a.ApprovalID))
	}
	return err
}

func (a *Audit) check(present fields) *Error {
	err := first(
		op(present, a.Op, "tail", "show", "verify", "export"), name("trace", a.Trace, limits.NameBytes), between("limit", a.Limit, 1, math.MaxInt64),
		name("head", a.Head, limits.ReasonBytes),
	)
	if err == nil && a.Op == "show" {
		err = first(required(present, "trace"), filled("trace", a.Trace))
	}
	return err
}

func (s *SafeMode) check(present fields) *Error { return op(present, s.Op, "status", "leave") }
