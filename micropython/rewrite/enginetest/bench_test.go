package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkProgram runs the programs of testdata, which ../bench.mjs runs on the stock file under Node.
func BenchmarkProgram(b *testing.B) {
	files, err := filepath.Glob("testdata/*.py")
	if err != nil || len(files) == 0 {
		b.Fatalf("programs in testdata: got %d, %v", len(files), err)
	}
	for _, file := range files {
		program, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(b *testing.B) {
			m := boot(b, smallHeap)
			for b.Loop() {
				if _, err := m.exec(string(program)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
