// Package crc has the checksums that sensors and field buses append to what they say. It refuses nothing: every slice of bytes has
// a checksum.
package crc

// Eight is the CRC-8 of polynomial x⁸+x⁵+x⁴+1 (0x31), most significant bit first, starting from 0xFF: that of the sensors of
// ASAIR (AHT20 data sheet, section 5.4.4) and Sensirion (SGP30 data sheet, table 9, whose example is 0xBEEF → 0x92).
func Eight(p ...byte) byte {
	crc := byte(0xFF)
	for _, b := range p {
		crc ^= b
		for range 8 {
			top := crc&0x80 != 0
			crc <<= 1
			if top {
				crc ^= 0x31
			}
		}
	}
	return crc
}

// Modbus is the CRC-16 of Modbus RTU: polynomial 0x8005 with the least significant bit first (0xA001), starting from 0xFFFF. It goes
// on the wire low byte first (MODBUS over Serial Line V1.02, section 2.5.1.2 and appendix B).
func Modbus(p []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, b := range p {
		crc ^= uint16(b)
		for range 8 {
			low := crc&1 != 0
			crc >>= 1
			if low {
				crc ^= 0xA001
			}
		}
	}
	return crc
}
