package simview

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func TestRows(t *testing.T) {
	tree := func(v jsontext.Value) string { return strings.Trim(string(v), `"`) + "\n" }
	got, ok := Rows([]byte(`[{"name":"LED","type":"led","pin":5,"level":0,"state":"dark"},{"name":"P","type":"adc","pin":"A5","level":1,"state":"`+strings.Repeat("é", 101)+`"},
		{"name":"AHT20","type":"aht20","bus":"i2c0","addr":"0x38","state":"ok"},{"name":"M","type":"stepper","pins":{"in1":1},"state":""}]`), tree)
	want := [][]string{
		{"LED", "led", "5", "0", "dark"}, {"P", "adc", "A5", "1", strings.Repeat("é", 100) + "…"}, {"AHT20", "aht20", "i2c0 0x38", "-", "ok"},
		{"M", "stepper", "-", "-", "-"},
	}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("ok %v (-want +got):\n%s", ok, diff)
	}
	if _, ok := Rows([]byte(`{"name":"LED"}`), tree); ok {
		t.Error("one device: got a list")
	}
}

func TestPicture(t *testing.T) {
	text, png, err := Picture([]byte(`{"name":"X","text":"⣿","png":"aGk="}`))
	if text != "⣿" || string(png) != "hi" || err != nil {
		t.Errorf("got %q, %q, %v", text, png, err)
	}
	for _, bad := range []string{"", "[]", `{"png":"!"}`} {
		if _, _, err := Picture([]byte(bad)); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}

// Every part of a load is a value that the protocol takes, and together they are the file.
func TestLoads(t *testing.T) {
	data := make([]byte, 100_000)
	for i := range data {
		data[i] = byte(i * 7)
	}
	var got []byte
	for value, loaded := range Loads(data) {
		if len(value) > limits.SimScenarioBytes {
			t.Errorf("a value has %d bytes, want at most %d", len(value), limits.SimScenarioBytes)
		}
		off, text, _ := strings.Cut(value, " ")
		part, err := base64.StdEncoding.DecodeString(text)
		if err != nil || off != strconv.Itoa(len(got)) {
			t.Fatalf("got offset %s and %v, want %d", off, err, len(got))
		}
		if got = append(got, part...); loaded != len(got) {
			t.Errorf("got %d bytes loaded, want %d", loaded, len(got))
		}
	}
	if !bytes.Equal(got, data) {
		t.Error("the parts are not the file")
	}
	for value := range Loads(nil) {
		t.Errorf("an empty file: got %q, want nothing", value)
	}
}
