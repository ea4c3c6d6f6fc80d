package simview

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
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
