package protocol_test

import (
	"fmt"

	"github.com/pal-terminal/pal/protocol"
)

func ExampleDecode() {
	req, err := protocol.Decode([]byte(`{"id":"1","code":"Pin(5).on()"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(req.Type, *req.ID, req.Body.(*protocol.Exec).Code)
	// Output: exec 1 Pin(5).on()
}

// What two readers could read differently is refused, and the refusal is an answer to the right request.
func ExampleRefuse() {
	req, err := protocol.Decode([]byte(`{"code":"a","CODE":"b","id":"1"}`))
	answer := protocol.Refuse(req.ID, err)
	fmt.Println(*answer.ID, answer.Code, answer.Message)
	// Output: 1 bad_json field "CODE" stands twice in one object, perhaps in another case
}
