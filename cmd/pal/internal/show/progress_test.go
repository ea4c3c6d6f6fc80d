package show

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen strings.Builder
		p := NewProgress(&screen, 200, "bytes") // no screen: nothing is shown
		time.Sleep(time.Minute)
		p.At(100)
		p.End()
		if screen.Len() > 0 {
			t.Errorf("on what is no screen: got %q, want nothing", screen.String())
		}
		p = NewProgress(nil, 200, "bytes")
		p.w = &screen
		p.At(10) // too early
		time.Sleep(progressAfter + 1)
		p.At(50)
		p.At(60) // too soon after that
		time.Sleep(progressEvery + 1)
		p.At(200)
		p.End()
		p.End()
		want := "\r50 of 200 bytes (25 %)\x1b[K\r200 of 200 bytes (100 %)\x1b[K\r\x1b[K"
		if screen.String() != want {
			t.Errorf("got %q, want %q", screen.String(), want)
		}
	})
}
