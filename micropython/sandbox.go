package micropython

// sandbox collects what the process gave up.
type sandbox struct {
	active  []string
	missing []string // each with its reason
}

func newSandbox() *sandbox { return &sandbox{} }

// did records one measure.
func (s *sandbox) did(name string, err error) {
	if err != nil {
		s.missing = append(s.missing, name+": "+err.Error())
		return
	}
	s.active = append(s.active, name)
}
