# Every command for people; what they do stands in scripts/.
.DEFAULT_GOAL := help
WORKLOAD ?=
ONLY ?=
PEER ?=
.PHONY: run stop restart logs release bench test test-clients test-browser test-openapi test-tls test-run \
    test-sanitizers test-operations test-monitoring release-drill fault-drill fuzz format lint schema clean help

# The tests of everything that touches C or shares memory between threads. Leaks are not looked for: XCTest and
# Foundation have some of their own. Replacements under load are left to make test: at a sanitizer's pace they take minutes.
WRAPPERS := FastCGITests|DatabaseTests|MigrationsTests|OpenSSLTests|FetchTests|GzipTests|JSONTests|JOSETests

run: ## Install what is missing, build, start everything on 127.0.0.1:$MERGANSER_PORT (8080), walk through a swap, a sign-in and a claim
	@scripts/instance run
stop: ## Stop what make run started
	@scripts/instance stop
restart: ## Build, replace the running instance under load, show that nothing was lost
	@scripts/instance restart
logs: ## Follow the logs
	@scripts/instance logs
release: ## Build what ships into .build-release/programs, the symbols beside it
	@scripts/release
test: ## Run all tests beside a private MariaDB
	@scripts/test-openapi --document
	@scripts/test
test-clients: ## Drive the provider with Authlib, beside an instance of its own
	@scripts/test-clients
test-openapi: ## Hold docs/openapi.yaml against a running instance, with schemathesis
	@scripts/test-openapi
test-tls: ## Scan nginx/production.conf with testssl.sh
	@scripts/test-tls
test-sanitizers: ## Run the wrappers' tests under address and thread sanitizer
	@ASAN_OPTIONS=detect_leaks=0 scripts/test --scratch-path .build-address --sanitize address \
	    --filter '$(WRAPPERS)' --skip ReplacementTests
	@scripts/test --scratch-path .build-thread --sanitize thread \
	    --filter '$(WRAPPERS)' --skip ReplacementTests
test-browser: ## Drive the pages with headless Chromium beside an instance of its own
	@scripts/test-browser
test-run: ## Do what README.md says of make run, restart and stop, each twice
	@scripts/test-run
test-operations: ## Follow a request, back up and restore as docs/operations.md says, beside an instance of its own
	@scripts/instance beside scripts/test-operations
test-monitoring: ## Check the alert rules of docs/monitoring, and that each fires
	@scripts/test-monitoring
release-drill: ## Replace instances under load, in every way, and show that nothing is lost
	@scripts/drill --release release
fault-drill: ## Break what the server stands on and show that nothing is lost; ONLY=name for one scenario
	@scripts/drill --release fault $(ONLY)
bench: ## Measure against a C program that runs the same SQL; WORKLOAD=name measures one, PEER=1 glewlwyd, too
	@scripts/bench $(addprefix --workload ,$(WORKLOAD)) $(if $(PEER),--peer)
fuzz: ## Fuzz what reads hostile bytes, for 60 s each (DURATION=3600, ONLY=json)
	@scripts/fuzz
format: ## Format the Swift sources
	@swift format --in-place --parallel --recursive Package.swift Sources Tests
lint: ## Check their format and style
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests
schema: ## Regenerate sql/schema.sql from the migrations
	@scripts/instance schema
clean: stop ## Stop, and remove everything built or stored
	@rm -rf .build .build-release .build-address .build-thread .build-fuzz .run
help: ## This list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do \
	    printf '  make %-16s %s\n' "$$target" "$$text"; done
