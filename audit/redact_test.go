package audit

import (
	"testing"

	"pgregory.net/rapid"
)

// What the quick look lets pass the close look would not have changed.
func TestSuspicious(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(?:[a-zA-Z_]{0,8}(?:password|PassWd|secret|token|api_key|psk|pwd|pass|auth|Credential|bearer|pal_)?[ =:"']{0,3}[a-z0-9ſK]{0,24}){1,3}`).Draw(t, "text")
		closely := secretValue.ReplaceAllString(bearer.ReplaceAllString(ownToken.ReplaceAllString(text, redacted), "${1}"+redacted), "${1}"+redacted)
		if !suspicious(text) && closely != text {
			t.Fatalf("%q was passed, and is %q", text, closely)
		}
	})
}
