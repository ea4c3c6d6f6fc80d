package table

import "github.com/pal-terminal/pal/limits"

func simulated() []Bound {
	return []Bound{
		count("SimEvents", limits.SimEvents, "events", "what one simulated device is going to do; a program that floods it with requests must not fill the guard's memory", "further requests have no effect"),
		size("SimUARTBytes", limits.SimUARTBytes, "received by a simulated UART and not read yet, far more than a real one keeps", "what comes is lost and counted as an overrun"),
		size("SimScenarioBytes", limits.SimScenarioBytes, "the text of a scenario, and a part of what is loaded into a memory; it travels in one message", "too_large"),
		count("SimScenarioSteps", limits.SimScenarioSteps, "steps", "of a scenario", "the scenario is refused"),
		count("SimPixels", limits.SimPixels, "lights", "of a simulated strip, all of which its state names", "the board file is refused"),
	}
}
