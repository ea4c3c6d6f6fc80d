//go:build !unix

package flash

// number returns the POSIX number of a failure of the disk. Terminals do not run here.
func number(error) int { return eIO }

func isReadOnly(error) bool { return false }
