package table

import "github.com/pal-terminal/pal/limits"

func boards() []Bound {
	return []Bound{
		size("BoardLineBytes", limits.BoardLineBytes, "the YAML parser's work grows with the square of what one line nests", "the board file is refused"),
		count("BoardNesting", limits.BoardNesting, "levels", "the YAML parser recurses; a board needs three", "the board file is refused"),
		size("BoardTextBytes", limits.BoardTextBytes, "notes are shown in tables and to models", "the board file is refused"),
		size("PinIDBytes", limits.PinIDBytes, "ids are short words such as A5", "the board file is refused"),
		size("ScaleBytes", limits.ScaleBytes, "a formula from a data sheet fits", "the board file is refused"),
		span("RuleLongest", limits.RuleLongest, "max_on and min_off of a day cover any machine", "the board file is refused"),
		count("RateChanges", limits.RateChanges, "changes", "the guard keeps the time of each change that max_rate counts", "the board file is refused"),
		span("TripLongest", limits.TripLongest, "a condition that may stand longer is no danger", "the board file is refused"),
	}
}
