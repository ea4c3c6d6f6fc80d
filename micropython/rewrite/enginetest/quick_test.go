package enginetest

import (
	"fmt"
	"os"
	"testing"
)

// The short ways of lib/quick.mjs give what the stock engine gives, also while garbage is collected at nearly every allocation.
func TestShortWaysAnswerAsTheStockEngine(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("testdata/parity/shortcuts.py")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/parity/shortcuts.out") // printed by the stock engine
	if err != nil {
		t.Fatal(err)
	}
	for _, threshold := range []int{-1, 128} {
		t.Run(fmt.Sprintf("threshold %d", threshold), func(t *testing.T) {
			t.Parallel()
			m := boot(t, smallHeap)
			got, err := m.exec(fmt.Sprintf("import gc\ngc.threshold(%d)\n", threshold) + string(program))
			if err != nil || got != string(want) {
				t.Errorf("got %v and\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// A name that was looked for in vain is found once it is there, whatever shares its hash or its place among the recent ones.
func TestNamesAreFoundOnceAdded(t *testing.T) {
	t.Parallel()
	boot(t, 4<<20).wantOutput(`class A: pass
a = A()
bad = 0
for k in range(4000):
 n = 'v%d' % (k * 31 % 4001)
 bad += hasattr(a, n)
 setattr(a, n, k)
 bad += getattr(a, 'v' + str(k * 31 % 4001)) != k
for k in range(4000): bad += getattr(a, 'v%d' % (k * 31 % 4001)) != k
print(bad)`, "0")
}

// The heap is searched from its first free block: what one program leaves in it is used by the next, block by block, before
// MemoryError.
func TestHolesAreFilled(t *testing.T) {
	t.Parallel()
	m := boot(t, smallHeap)
	m.wantOutput(`import gc
keep = []
try:
 while 1: keep.append(bytearray(100))
except MemoryError: pass
n = len(keep)
for k in range(0, n, 2): keep[k] = None
gc.collect()
try:
 for k in range(0, n - 40, 2): keep[k] = bytearray(100) # the last few holes hold what this program itself needs
except MemoryError: print('no room at', k, 'of', n)
try: bytearray(100 * (n // 4)); print('too much room')
except MemoryError: print('filled')`, "filled")
}
