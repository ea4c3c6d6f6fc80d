//go:build !race

package endure

// pace divides the work of the long tests: `make test` runs them whole without the race detector, and a part with it.
const pace = 1
