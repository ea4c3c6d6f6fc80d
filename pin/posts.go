package pin

// Posts reports whether writes to a pin may be posted (hw.PostAllowed): it is an output now, and no rule of it could refuse what a
// program would have to hear of at once. Each write is checked all the same; this is only about when a refusal is told.
func (t *Table) Posts(h Handle) bool {
	p, err := t.at(h)
	if err != nil || p.b.HasRules() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.level >= 0
}
