package sessions

import (
	"fmt"
	"testing"

	"github.com/pal-terminal/pal/limits"
)

func TestLeastRecentlyUsedGivesWay(t *testing.T) {
	var n Names
	first, _, _ := n.Use("a", "s0")
	for i := 1; i < limits.SessionsPerActor; i++ {
		n.Use("a", fmt.Sprint("s", i))
	}
	if key, dropped, _ := n.Use("a", "s0"); key != first || dropped != "" {
		t.Errorf("used again: got %q, dropped %q, want %q and none", key, dropped, first)
	}
	if _, dropped, forget := n.Use("a", "more"); dropped != "s1" || len(forget) != 1 {
		t.Errorf("one too many: dropped %q %v, want s1", dropped, forget)
	}
	if _, dropped, _ := n.Use("b", "s0"); dropped != "" {
		t.Errorf("another actor's: dropped %q", dropped)
	}
}

// A name that was forgotten starts empty, and "new" is never kept.
func TestForgotten(t *testing.T) {
	var n Names
	old, _, _ := n.Use("a", "s")
	if got := n.Remove("a", func(name string) bool { return name == "s" }); len(got) != 1 || got[0] != old || n.Len() != 0 {
		t.Errorf("remove: got %v, %d actors left", got, n.Len())
	}
	if again, _, _ := n.Use("a", "s"); again == old {
		t.Errorf("the same name again: got the same namespace %q", again)
	}
	if key, _, _ := n.Use("a", "new"); key != "" {
		t.Errorf("new: got namespace %q, want none", key)
	}
	n.Clear()
	if n.Len() != 0 {
		t.Error("clear left some")
	}
}
