package limits

// Bounds on the simulated bench.
const (
	SimEvents        = 256      // of one device
	SimUARTBytes     = 4 << 10  // received and not read yet
	SimScenarioBytes = 16 << 10 // the text of one, and a part of a load
	SimScenarioSteps = 512
	SimPixels        = 1024 // of a light strip
)
