package table

import "github.com/pal-terminal/pal/limits"

// buses are rows of the group of outputs: what hangs on a bus moves things as well.
func buses() []Bound {
	return []Bound{
		size("BusBytes", limits.BusBytes, "the largest buffers of drivers for displays and flash memory; fits a record with room to spare", "OSError EINVAL; send it in parts"),
		size("BusSettingsBytes", limits.BusSettingsBytes, "a dozen short settings", "OSError EINVAL"),
		span("BusTransferTime", limits.BusTransferTime, "one transfer must end within an ordinary exec; also the longest pulse that is waited for",
			"a transfer that its clock makes longer is refused with OSError EINVAL; a caller does not wait longer for its turn"),
		span("BusSlack", limits.BusSlack, "for devices that stretch the clock, and for a busy machine", "the transfer is given up: OSError ETIMEDOUT, the bus is recovered, event bus_fault"),
		span("BusGrace", limits.BusGrace, "a driver sees late that it was cancelled; given twice, once for the recovery, the caller hears within a tenth of a second",
			"the bus is out of service until its driver comes back"),
		count("I2CHz", limits.I2CHz, "Hz", "the fastest mode of the I2C specification", "OSError EINVAL"),
		count("SPIHz", limits.SPIHz, "Hz", "the fastest clock of the boards in view", "OSError EINVAL"),
		count("UARTBaud", limits.UARTBaud, "bit/s", "the fastest of the boards in view", "OSError EINVAL"),
		count("Counters", limits.Counters, "counters", "chips have four to eight", "OSError EBUSY"),
		size("BitstreamBytes", limits.BitstreamBytes, "a strip of 1,365 colour lights", "OSError EINVAL"),
		span("BitstreamTime", limits.BitstreamTime, "a bit stream cannot be broken off: a stop waits for it no longer than for any driver", "OSError EINVAL"),
		size("OneWireBytes", limits.OneWireBytes, "the largest memory page of a one-wire device, many times over", "OSError EINVAL"),
	}
}
