//go:build race

package endure

// pace divides the work of the long tests; the detector makes them many times as slow.
const pace = 64
