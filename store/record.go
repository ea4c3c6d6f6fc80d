package store

import (
	"encoding/binary"
	"hash/crc32"
	"strings"

	"github.com/pal-terminal/pal/limits"
)

// A record is magic with its version, the length of the key, the length of the value, a CRC-32C of everything but itself, key and
// value, and nothing after it.
const (
	magic       = "palrec\x00\x01"
	crcAt       = len(magic) + 1 + 4
	headerBytes = crcAt + 4
)

func seal(key string, value []byte) []byte {
	b := append(make([]byte, 0, headerBytes+len(key)+len(value)), magic...)
	b = append(b, byte(len(key)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
	b = append(append(append(b, 0, 0, 0, 0), key...), value...)
	binary.BigEndian.PutUint32(b[crcAt:], checksum(b))
	return b
}

// unseal returns the value of a record, or what is wrong with it.
func unseal(key string, raw []byte) (value []byte, problem string) {
	switch {
	case len(raw) < headerBytes:
		return nil, "it is cut off"
	case string(raw[:len(magic)]) != magic:
		return nil, "it is no record of this version"
	}
	keyBytes, rest := int(raw[len(magic)]), raw[headerBytes:]
	switch {
	case int64(len(rest)) != int64(keyBytes)+int64(binary.BigEndian.Uint32(raw[len(magic)+1:])):
		return nil, "its length is wrong"
	case binary.BigEndian.Uint32(raw[crcAt:]) != checksum(raw):
		return nil, "its checksum is wrong"
	case string(rest[:keyBytes]) != key:
		return nil, "it was written under another name"
	}
	return rest[keyBytes:], ""
}

func checksum(b []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(b[:crcAt], table), table, b[headerBytes:])
}

// sealText makes a record of one sector, always as long, so that another can be written in its place when the disk is full.
func sealText(key, text string) []byte {
	value := make([]byte, limits.LatchBytes-headerBytes-len(key))
	copy(value, text)
	return seal(key, value)
}

func unsealText(key string, raw []byte) (text, problem string) {
	value, problem := unseal(key, raw)
	return strings.TrimRight(string(value), "\x00"), problem
}
