package sim

import (
	"encoding/json"
	"fmt"
)

// The air around the bench is made up: names from a story, addresses from the blocks that are set aside for examples (RFC 5737) and
// for whoever wants them (locally administered MAC addresses).
var (
	station = map[string]any{
		"active": true, "connected": true, "ssid": "pal-bench", "bssid": "02005e100001", "channel": 6, "rssi": -48,
		"mac": "02005e1000fe", "hostname": "bench-sim", "ifconfig": []string{"192.0.2.10", "255.255.255.0", "192.0.2.1", "192.0.2.53"},
	}
	// ssid, bssid, channel, rssi, security as MicroPython numbers it, hidden
	air = [][]any{
		{"pal-bench", "02005e100001", 6, -48, 3, false},
		{"greenhouse", "02005e100002", 1, -61, 3, false},
		{"", "02005e100003", 11, -72, 4, true},
		{"harbour cafe", "02005e100004", 11, -84, 0, false},
	}
)

// Network implements board.Networker. There is no radio: the answers are always the same.
func (b *Board) Network(what string) ([]byte, error) {
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	switch what {
	case "status":
		return json.Marshal(station)
	case "scan":
		return json.Marshal(air)
	}
	return nil, fmt.Errorf("network: %q is neither status nor scan", what)
}
