//go:build unix

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// handshake sends a WebSocket handshake with the header lines and returns the status.
func (u *up) handshake(path string, header ...string) (status int, body string) {
	u.t.Helper()
	conn, err := net.DialTimeout("tcp", u.addr, patience)
	if err != nil {
		u.t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		u.t.Fatal(err)
	}
	lines := append([]string{
		"GET " + path + " HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
	}, header...)
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		u.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		u.t.Fatal(err)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp.StatusCode, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		u.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// A page of another site must not get a connection, whatever token the browser could be made to send; nor one that gave its
// own name our address.
func TestCrossSite(t *testing.T) {
	u := start(t)
	own := "Host: " + u.addr
	bearer := "Authorization: Bearer " + u.agent
	for _, c := range []struct {
		name   string
		header []string
		want   int
	}{
		{"program", []string{own, bearer}, 101},
		{"same_origin", []string{own, bearer, "Origin: http://" + u.addr}, 101},
		{"other_site", []string{own, bearer, "Origin: http://evil.example"}, 403},
		{"other_port", []string{own, bearer, "Origin: http://127.0.0.1:1"}, 403},
		{"null_origin", []string{own, bearer, "Origin: null"}, 403},
		{"rebinding", []string{"Host: evil.example", bearer, "Origin: http://evil.example"}, 403},
		{"rebinding_without_origin", []string{"Host: evil.example", bearer}, 403},
		{"wrong_token", []string{own, "Authorization: Bearer pal_wrong"}, 401},
		{"wrong_scheme", []string{own, "Authorization: Basic YTpi"}, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, body := u.handshake("/pal", c.header...); got != c.want {
				t.Errorf("handshake: got %d %q, want %d", got, body, c.want)
			}
		})
	}
}

// Who has no identity sees that the terminal lives, and nothing else.
func TestStrangers(t *testing.T) {
	u := start(t)
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/": 404, "/api/pins": 404, "/metrics": 404, "/pal/other": 404, "/debug/pprof/": 404,
	} {
		resp, err := http.Get("http://" + u.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s: got %d, want %d", path, resp.StatusCode, want)
		}
	}
	resp, err := http.Get(fmt.Sprintf("http://%s/pal", u.addr))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("GET /pal without an upgrade: got %d, want %d", resp.StatusCode, http.StatusUpgradeRequired)
	}
}
