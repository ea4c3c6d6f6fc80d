package protocol

import "testing"

// A stored answer that is fetched is the same message but for its id.
func TestReaddress(t *testing.T) {
	for _, test := range []struct{ stored, id, want string }{
		{`{"version":"1","id":"old","type":"result","stdout":"é\\u2028","error":false,"meta":{"a":[1,null]}}`, "new",
			`{"version":"1","id":"new","type":"result","stdout":"é\\u2028","error":false,"meta":{"a":[1,null]}}`},
		{`{"version":"1","id":"old","type":"ack"}`, "", `{"version":"1","id":null,"type":"ack"}`},
	} {
		var id *string
		if test.id != "" {
			id = &test.id
		}
		got, err := Readdress([]byte(test.stored), id)
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v, want %s", got, err, test.want)
		}
	}
	if _, err := Readdress([]byte(`{"id":`), nil); err == nil {
		t.Error("half a message: got no error")
	}
}
