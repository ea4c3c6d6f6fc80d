package boards

import "testing"

func TestChanges(t *testing.T) {
	const before = "def a(n: int) -> None:\n    pass\ndef b():\n    pass\n"
	for after, want := range map[string]string{
		before:                              "the same functions\n",
		"def a(n: int) -> None:\n    n()\n": "- b()\n",
		"":                                  "- a(n: int) -> None\n- b()\n",
		"def b():\n    pass\ndef a(n: str) -> None:\n    pass\n": "- a(n: int) -> None\n+ a(n: str) -> None\n",
	} {
		if got := changes(before, after); got != want {
			t.Errorf("%q: got %q, want %q", after, got, want)
		}
	}
}
