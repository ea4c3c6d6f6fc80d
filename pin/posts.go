package pin

// Posts reports whether c's writes to a pin may be posted (hw.PostAllowed): it is an output now that c may drive, and no rule of
// it could refuse what a program would have to hear of at once. While the e-stop is set, or the output is out of service, none is:
// a refusal that is certain comes with the line it belongs to. Each write is checked all the same; this is only about when
// a refusal is told.
func (t *Table) Posts(c Caller, h Handle) bool {
	p, err := t.at(h)
	if err != nil || p.b.HasRules() || t.mayTouch(c, p, true) != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.claimed(&c, p); err != nil {
		return false
	}
	return p.level >= 0 && p.fault == "" && t.open(p) == nil
}
