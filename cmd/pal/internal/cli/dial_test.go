package cli

import "testing"

func TestDeviceURL(t *testing.T) {
	for word, want := range map[string]string{
		"ws://h:1/pal":   "ws://h:1/pal",
		"wss://h/pal/n":  "wss://h/pal/n",
		"127.0.0.1:7333": "ws://127.0.0.1:7333/pal",
		"[::1]:7333":     "ws://[::1]:7333/pal",
		"http://h:1/":    "",
		"h":              "",
		"":               "",
		"h:":             "",
	} {
		got, err := deviceURL(word)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("deviceURL(%q): got %q, %v, want %q", word, got, err, want)
		}
	}
}

// The local token must reach the terminal that made it and no other listener.
func TestSameEndpoint(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"ws://127.0.0.1:1/pal", "ws://127.0.0.1:1/pal", true},
		{"ws://127.0.0.1:1/pal", "ws://127.0.0.1:1/pal/x", true},
		{"ws://127.0.0.1:1/pal", "ws://127.0.0.1:2/pal", false},
		{"ws://127.0.0.1:1/pal", "ws://[::1]:1/pal", false},
		{"ws://127.0.0.1:1/pal", "wss://127.0.0.1:1/pal", false},
		{"ws://127.0.0.1:1/pal", "ws://127.0.0.1:1@evil:2/pal", false},
		{"ws://127.0.0.1:1/pal", "ws://%zz/", false},
	} {
		if got := sameEndpoint(c.a, c.b); got != c.want {
			t.Errorf("sameEndpoint(%s, %s): got %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{"./bin/pal": "./bin/pal", "/a b": "'/a b'", "it's": `'it'\''s'`} {
		if got := ShellWord(word); got != want {
			t.Errorf("shellWord(%s): got %s, want %s", word, got, want)
		}
	}
}
