# Every command for people; the scripts in scripts/ do the work.
.DEFAULT_GOAL := help
WORKLOAD ?=
ONLY ?=
PEER ?=
.PHONY: run stop restart logs release package test-package test-cluster bench profile bench-client test test-clients test-browser \
    test-openapi test-tls test-run screenshots test-sanitizers test-operations test-monitoring test-client-package test-apple guestbook \
    docs release-drill fault-drill kill-drill address-drill cluster-drill client-drill fuzz format lint schema clean help

# The tests of all code that calls C or shares memory between threads. Leaks are not checked, because XCTest and Foundation
# have some of their own. make test runs replacements under load; with a sanitizer they would take minutes.
WRAPPERS := FastCGITests|DatabaseTests|MigrationsTests|OpenSSLTests|FetchTests|GzipTests|JSONTests|JOSETests|MailTests|ThreadsTests

run: ## Install what is missing, build, start everything on 127.0.0.1:$MERGANSER_PORT (8080), show a swap, a merge, an approval, a deletion and a claim
	@scripts/instance run
stop: ## Stop the instance that make run started
	@scripts/instance stop
restart: ## Build, replace the running instance under load, check that nothing was lost
	@scripts/instance restart
logs: ## Follow the logs of the instance
	@scripts/instance logs
release: ## Build what ships into .build-release/programs, the symbols beside it
	@scripts/release
package: ## Build the Debian package into .build-release/package, and check it with lintian
	@scripts/package
test: ## Run all tests with a private MariaDB
	@scripts/test-openapi --document
	@scripts/test
test-clients: ## Test the provider with Authlib, the verifiers of webhooks and the code of docs/integrating, against an instance of its own
	@scripts/test-clients
test-openapi: ## Test an instance of its own against docs/openapi.yaml, with schemathesis
	@scripts/test-openapi
test-tls: ## Scan nginx/production.conf with testssl.sh
	@scripts/test-tls
test-sanitizers: ## Test the wrappers of C libraries, and what threads share, under address and thread sanitizer
	@MERGANSER_TEST_TARGETS='$(WRAPPERS)' ASAN_OPTIONS=detect_leaks=0 scripts/test --scratch-path .build-address \
	    --sanitize address --skip ReplacementTests
	@MERGANSER_TEST_TARGETS='$(WRAPPERS)' scripts/test --scratch-path .build-thread --sanitize thread \
	    --skip ReplacementTests
test-browser: ## Test the pages in headless Chromium, against an instance of its own
	@scripts/test-browser
screenshots: ## Make the pictures of README.md again, from an instance of its own
	@scripts/screenshots
test-run: ## Run make run, restart and stop, each twice, as README.md says
	@scripts/test-run
test-operations: ## Follow a request, back up and restore as docs/operations.md says, with an instance of its own
	@scripts/instance beside scripts/test-operations
test-monitoring: ## Check the alert rules of docs/monitoring, and that each alert fires
	@scripts/test-monitoring
test-package: ## Try the Debian package in a bare Debian 12 with systemd; RELEASES=n replaces n releases under load; needs root
	@scripts/test-package
test-cluster: ## Follow docs/machines.md with three databases and two app machines, bare Debian 12 with systemd; needs root
	@scripts/test-cluster
test-client-package: ## Build apps that depend on one client library alone, without any C library of the server
	@scripts/test-client-package
test-apple: ## Check the types of what needs Apple's systems, against stubs of Apple's frameworks
	@scripts/test-apple
guestbook: ## Run Examples/guestbook, an app that uses the client library, against the instance of make run
	@scripts/guestbook
docs: ## Build the documentation of the client library into .run/docs
	@scripts/docs
release-drill: ## Replace instances under load, in every way, and check that nothing is lost
	@scripts/drill --release release
fault-drill: ## Break what the server depends on, and check that nothing is lost; ONLY=name runs one scenario
	@scripts/drill --release fault $(ONLY)
kill-drill: ## Kill the server or MariaDB a hundred times while accounts merge, and check that nobody and no event is lost
	@scripts/drill --release kill
client-drill: ## Kill apps that use the client library behind a network that loses and repeats, 100 000 operations
	@MERGANSER_CLIENT_DRILL=$${MERGANSER_CLIENT_DRILL:-100000} scripts/test --filter ClientDrillTests
address-drill: ## Send webhooks to names that change their addresses, and count the packets to forbidden ones; needs root
	@scripts/drill --release addresses
cluster-drill: ## Break three databases with Galera and two app machines, in network namespaces; ONLY=name runs one scenario; needs root
	@scripts/drill --release cluster $(ONLY)
bench: ## Compare with a C program that runs the same SQL; WORKLOAD=name measures one workload, PEER=1 also other servers
	@scripts/bench $(addprefix --workload ,$(WORKLOAD)) $(if $(PEER),--peer)
profile: ## Find out what the benchmark's requests run, and how often, for the next release build; after changes of what runs often
	@scripts/profile
bench-client: ## Measure what reporting an event costs an app
	@scripts/bench-client
fuzz: ## Run each fuzzer for 60 s; DURATION=3600 runs for an hour, ONLY=json runs one fuzzer
	@scripts/fuzz
format: ## Format the Swift sources
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Examples
lint: ## Check the format and style of the Swift sources
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests Examples
schema: ## Regenerate sql/schema.sql from the migrations
	@scripts/instance schema
clean: stop ## Stop the instance, and remove everything built or stored
	@rm -rf .build .build-release .build-profile .build-address .build-thread .build-fuzz .run
help: ## Print this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do \
	    printf '  make %-16s %s\n' "$$target" "$$text"; done
