#!/bin/sh
# Measures a fresh terminal on the simulated board beside the comparison server, and how long a terminal takes to its first
# exec. Run from the top of the tree, after `make build`.
set -eu
dir=$(mktemp -d)
pid=
cleanup() { [ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$dir"; }
trap cleanup EXIT INT TERM
(cd test/peer && [ -d node_modules ] || npm ci --no-audit --no-fund --loglevel=error)

# start DIR CACHE: milliseconds from the command to the first successful exec
first_exec() {
	rm -f "$dir/ready"
	begin=$(date +%s%N)
	XDG_CACHE_HOME=$2 ./bin/pal up --state "$1" --listen 127.0.0.1:0 --ready-file "$dir/ready" >/dev/null 2>&1 &
	pid=$!
	until [ -s "$dir/ready" ]; do kill -0 "$pid" || exit 1; sleep 0.005; done
	PAL_STATE=$1 ./bin/pal exec x=1 >/dev/null
	echo "$1: $((($(date +%s%N) - begin) / 1000000)) ms from the command to the first exec" | sed "s|$dir/||"
}
first_exec "$dir/first-ever" "$dir/cache"
kill "$pid"; wait "$pid" || true
first_exec "$dir/warm" "$dir/cache"
echo "with the audit log, every outcome synced:"
PAL_STATE=$dir/warm ./bin/pal bench
kill "$pid"; wait "$pid" || true
./bin/pal up --no-audit --state "$dir/plain" --listen 127.0.0.1:0 --ready-file "$dir/plain-ready" >/dev/null 2>&1 &
pid=$!
until [ -s "$dir/plain-ready" ]; do kill -0 "$pid" || exit 1; sleep 0.005; done
echo "without it, beside the comparison server:"
PAL_STATE=$dir/plain ./bin/pal bench --peer test/peer
