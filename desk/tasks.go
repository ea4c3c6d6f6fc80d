package desk

import (
	"fmt"
	"slices"

	"github.com/pal-terminal/pal/conns"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/task"
)

// Tasks does what a request about tasks asks of their manager, nil when there is none.
func Tasks(m *task.Manager, w *conns.Who, req *protocol.Request) (protocol.Answer, error) {
	if m == nil {
		return nil, noTasks()
	}
	if body, ok := req.Body.(*protocol.Register); ok {
		if err := MayClaim(w.Actor, Uses(body.Brief.Resources, "")); err != nil {
			return nil, err
		}
		id, next, err := m.Register(ownerOf(w), *body.Brief, body.Code)
		if err != nil {
			return nil, err
		}
		a := protocol.TaskAnswer{Header: protocol.NewHeader(req.ID, protocol.AnswerTask), TaskID: id, Status: "registered"}
		if !next.IsZero() {
			a.NextMS = next.UnixMilli()
		}
		return a, nil
	}
	ref, ok := req.Body.(*protocol.TaskRef)
	if !ok {
		return protocol.Tasks{Header: protocol.NewHeader(req.ID, protocol.AnswerTasks), Tasks: m.List()}, nil
	}
	info, err := m.Get(ref.TaskID, false)
	if err != nil {
		return nil, err
	}
	if req.Type != protocol.TypeTaskResult {
		if err := mayChange(w, info); err != nil {
			return nil, err
		}
	}
	switch req.Type {
	case protocol.TypeCancel:
		err = m.Cancel(ref.TaskID)
	case protocol.TypePause:
		err = m.Pause(ref.TaskID)
	case protocol.TypeResume:
		err = m.Resume(ref.TaskID, w.Actor.Class == identity.Human)
	case protocol.TypeTrigger:
		err = m.Trigger(ref.TaskID)
	case protocol.TypeTaskResult:
		limit := limits.TaskResults
		if ref.Limit != nil {
			limit = int(min(*ref.Limit, int64(limit)))
		}
		runs, err := m.Results(ref.TaskID, limit)
		return protocol.TaskResults{Header: protocol.NewHeader(req.ID, protocol.AnswerTaskResult), TaskID: ref.TaskID, Runs: runs}, err
	}
	if err != nil {
		return nil, err
	}
	return Task(m, req.ID, ref.TaskID, false)
}

// Task tells of one task.
func Task(m *task.Manager, id *string, taskID string, code bool) (protocol.Answer, error) {
	if m == nil {
		return nil, noTasks()
	}
	info, err := m.Get(taskID, code)
	if err != nil {
		return nil, err
	}
	return protocol.TaskAnswer{
		Header: protocol.NewHeader(id, protocol.AnswerTask), TaskID: info.TaskID, Status: info.State, NextMS: info.NextMS, Task: &info,
	}, nil
}

func noTasks() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeUnavailable, Message: "this terminal runs no tasks"}
}

func ownerOf(w *conns.Who) task.Owner {
	o := task.Owner{Actor: w.Actor.Name, Class: string(w.Actor.Class), Client: w.Client}
	for _, s := range w.Actor.Scopes {
		o.Scopes = append(o.Scopes, string(s))
	}
	return o
}

// mayChange lets a task be changed by its owner, a person, or an admin.
func mayChange(w *conns.Who, info protocol.TaskInfo) error {
	if w.Actor.Name == info.Actor || w.Actor.Class == identity.Human || w.Actor.Can(identity.Admin) {
		return nil
	}
	return &protocol.Error{Code: protocol.CodeDenied, Rule: "task.owner", Resource: info.TaskID, Holder: info.Actor, Message: "the task belongs to " + info.Actor}
}

// Conns lists live connections, after it has cut one when that was asked for.
func Conns(places *conns.Places, k *conns.Conn, who string, id *string, body *protocol.Conn) (protocol.Answer, error) {
	live := places.List()
	if body.Op == "kick" {
		if body.Conn == nil {
			return nil, &protocol.Error{Code: protocol.CodeBadRequest, Message: "kick needs conn, a number from `pal conn ls`"}
		}
		i := slices.IndexFunc(live, func(o *conns.Conn) bool { return o.ID == *body.Conn })
		if i < 0 {
			return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "no such connection", Resource: fmt.Sprint(*body.Conn)}
		}
		live[i].Close("cut by " + who)
	}
	answer := protocol.Conns{Header: protocol.NewHeader(id, protocol.AnswerConn), Conns: []protocol.ConnInfo{}}
	for _, o := range live {
		if o.Ctx.Err() == nil {
			answer.Conns = append(answer.Conns, places.Info(o, k))
		}
	}
	return answer, nil
}
