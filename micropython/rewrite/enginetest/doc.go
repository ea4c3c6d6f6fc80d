// Package enginetest runs programs on the rewritten MicroPython engine and holds nothing but tests.
//
// Each change that micropython/rewrite makes has tests of its own here: unwinding, garbage collection, the fixed heap, stack
// checks and fuel. The host in host_test.go is as small as the contract in micropython/engine/README.md allows: no files, no
// objects of the host, no machine. Without engine.wasm the tests fail and say how to build it.
package enginetest
