package board

// Scale is an expression in raw.
type Scale struct{}
