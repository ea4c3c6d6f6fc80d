package ws

import (
	"slices"
	"testing"
	"time"
)

// reportMedian adds p50 and p99 to a benchmark: on a shared machine the mean says little.
func reportMedian(b *testing.B, trips []time.Duration) {
	b.Helper()
	slices.Sort(trips)
	b.ReportMetric(float64(trips[len(trips)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(trips[len(trips)*99/100].Nanoseconds())/1e3, "p99-µs")
}
