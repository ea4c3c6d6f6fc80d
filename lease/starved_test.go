package lease

// starved is panicked with where the table has taken a driver for hung that this machine had no time for.
type starved struct{}

// lives plays one seed, and reports false when the machine starved it.
func (w *world) lives() (whole bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(starved); !ok {
				panic(v)
			}
		}
	}()
	for range 50 {
		w.step()
	}
	w.what = "close"
	if err := w.table.Close(); err != nil {
		w.failf("%v", err)
	}
	w.on = [pins]bool{}
	w.compare()
	return true
}
