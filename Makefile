# PAL. Two commands matter: `make run` starts a terminal on the simulated board, `make test` runs every test. Each does its own
# set-up on a Debian machine that has Go 1.26 and Node 20.

GO      ?= go
NPM     ?= npm
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
ENGINE  := micropython/engine/engine.wasm
REWRITE := micropython/rewrite
BIN     := bin/pal
LDFLAGS := -s -w -X main.version=$(VERSION)

.PHONY: run test build engine bench lint fuzz soak vuln generate clean

# The address, the token file and a ready client line are printed when it serves.
run: build
	./$(BIN) up

build: engine
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/pal

# The engine is fetched by lock file and rewritten; a second run with nothing changed takes no time.
engine: $(REWRITE)/node_modules/.package-lock.json
	cd $(REWRITE) && $(NPM) run --silent build

$(REWRITE)/node_modules/.package-lock.json: $(REWRITE)/package-lock.json
	cd $(REWRITE) && $(NPM) ci --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# The tests start a binary built without the race detector (guest code is slow under it) and race-check everything else.
test: build tools test/peer/node_modules/.package-lock.json
	cd $(REWRITE) && $(NPM) test --silent
	cd test/peer && $(NPM) test --silent
	$(GO) vet ./...
	$(GO) test -race -shuffle=on -timeout 12m ./...
	$(GO) test -v -timeout 12m ./test/endure # whole, without the detector, for its figures

# What depends on chance, for long: PAL_SOAK multiplies the work of the tests with seeds, SOAKTIME bounds each package.
PAL_SOAK ?= 10
SOAKTIME ?= 4h
soak: build
	PAL_SOAK=$(PAL_SOAK) $(GO) test -v -count=1 -timeout $(SOAKTIME) ./test/endure
	PAL_SOAK=$(PAL_SOAK) $(GO) test -race -count=1 -timeout $(SOAKTIME) ./lease ./task ./pin ./store/... ./audit ./ledger ./durable

# The comparison server's packages: a WebSocket client of another language for the tests.
test/peer/node_modules/.package-lock.json: test/peer/package-lock.json
	cd test/peer && $(NPM) ci --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# What the tests need beside Go and Node: a terminal multiplexer for the prompt, a C compiler for the race detector.
.PHONY: tools
tools:
	@missing=""; \
	command -v tmux >/dev/null || missing="$$missing tmux"; \
	command -v gcc >/dev/null || missing="$$missing gcc libc6-dev"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" != 0 ]; then \
	  echo "the tests need more: run this as root first: apt-get install --no-install-recommends$$missing" >&2; exit 1; \
	fi; \
	if [ -n "$$missing" ]; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; \
	fi

bench: build
	$(GO) test -run '^$$' -bench . -benchtime 1s ./core ./pin ./protocol ./vm ./vm/frame ./transport/... ./micropython ./test/terminal
	sh test/bench.sh

# Heavy linters live in a module of their own, so that they never shape the product's.
lint:
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod golangci-lint run ./...

vuln:
	$(GO) tool -modfile=tools/go.mod govulncheck ./...

FUZZTIME ?= 20s
fuzz:
	@set -e; for t in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | grep -v node_modules); do \
	  for f in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]+).*/\1/p' $$t); do \
	    echo "fuzz $$(dirname $$t) $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$(dirname $$t); \
	  done; done

generate:
	$(GO) generate ./...

clean:
	rm -rf bin $(REWRITE)/node_modules test/peer/node_modules $(ENGINE)
