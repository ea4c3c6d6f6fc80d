package ws

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/pal-terminal/pal/transport"
)

// Origins says which requests of browsers are ours. The zero value takes pages served by this process under a loopback
// name, and whatever is not a browser. It serves other HTTP routes as well as the WebSocket.
type Origins struct {
	// Hosts are the names beyond loopback under which people reach this process, as they stand in the address bar:
	// "pal.example" for any port, or "pal.example:7333".
	Hosts []string
	// Allowed are origins of pages served by somebody else, exact: "https://pal.example".
	Allowed []string
}

// Check returns nil or an error that wraps transport.ErrForbidden.
//
// Browsers always send Origin with a WebSocket, so a request without one is no browser. With one, it must be this very
// scheme and host (or be listed), and the host must be a name that we know: after DNS rebinding the attacker's page has
// attacker.example both as Origin and as Host, and only the list of names tells. A listener on loopback has no reason to be
// called by another name at all, so there Host is checked in every case.
func (o Origins) Check(r *http.Request) error {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 && !localListener(r) {
		return nil
	}
	if !o.knows(r.Host) {
		return fmt.Errorf("%w: host %.100q is not a name of this terminal: use a loopback name or list it", transport.ErrForbidden, r.Host)
	}
	if len(origins) == 0 {
		return nil
	}
	if len(origins) > 1 {
		return fmt.Errorf("%w: more than one Origin", transport.ErrForbidden)
	}
	if slices.Contains(o.Allowed, origins[0]) || origins[0] != "" && sameOrigin(origins[0], r) {
		return nil
	}
	return fmt.Errorf("%w: origin %.100q", transport.ErrForbidden, origins[0])
}

func (o Origins) knows(hostport string) bool {
	host, _ := splitHost(hostport)
	if host == "localhost" {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(o.Hosts, func(known string) bool {
		return host != "" && (strings.EqualFold(known, host) || strings.EqualFold(known, hostport))
	})
}

// sameOrigin compares scheme, host and port.
func sameOrigin(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	scheme, port := "http", "80"
	if r.TLS != nil {
		scheme, port = "https", "443"
	}
	if u.Scheme != scheme {
		return false
	}
	originHost, originPort := splitHost(u.Host)
	host, hostPort := splitHost(r.Host)
	return host != "" && originHost == host && orElse(originPort, port) == orElse(hostPort, port)
}

// splitHost takes host:port apart; port is empty when there is none. Host comes in lower case and without brackets.
func splitHost(hostport string) (host, port string) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]"), ""
	}
	return strings.ToLower(host), port
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// localListener reports whether the request came in on a loopback address.
func localListener(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}
