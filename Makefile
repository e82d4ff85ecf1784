# Every target sees to the Node.js and the dependencies it needs by itself (hack/setup.sh).
SHELL := /bin/bash
NODE := hack/setup.sh node
# Node.js prints warnings about experimental features, which nothing here can change.
export NODE_NO_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help
help: ## Show this help
	@echo 'Targets:'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo 'Settings, from the environment or as make VARIABLE=value:'
	@awk -F '#: ' '/^#: / { print "  " $$2 }' $(MAKEFILE_LIST)

#: NODES=3, PODS=10       sample nodes and pods
#: PORT=9443              port of Kapis; the next free one when it is taken
#: LOG_STORE=embedded     where logs are kept: embedded, opensearch (a real one; needs Java 21 and Maven) or none
#: STORE=opensearch-3.8   the search engine of LOG_STORE=opensearch and of the tests (hack/opensearch)
#: RUN_DIR=.run           state of what runs; another one for another set side by side
#: KAPIS_GROUP_DOMAIN     domain of the API groups (kapis.io)
#: ONLY, GREP             make test: unit or e2e; only tests whose title matches. make bench ONLY=<name>
#: TIMINGS=1              make test: print the 40 slowest files and tests
#: KUBEBUILDER_ASSETS     folder with etcd, kube-apiserver and kubectl; such as one of setup-envtest; otherwise they are built

.PHONY: run up down
run: ## Start a control plane, sample nodes and pods, and Kapis; Ctrl-C stops all of it
	@$(NODE) hack/controlplane/run.ts
up: ## The same in the background; returns when all is ready
	@$(NODE) hack/controlplane/up.ts
down: ## Stop what `make up` started
	@$(NODE) hack/controlplane/down.ts

.PHONY: test test-unit test-e2e test-stores test-kubernetes test-shippers test-console test-logsql conformance-oidc bench
test: ## Run all tests; the last line is `N passed, N failed`
	@$(NODE) hack/test.ts
test-unit: ## Run the tests that need no control plane
	@ONLY=unit $(NODE) hack/test.ts
test-e2e: ## Run the tests against a control plane of their own
	@ONLY=e2e $(NODE) hack/test.ts
test-stores: ## Run the log store's tests on OpenSearch 1 to 3 and Elasticsearch 7.10 to 9, or on STORE alone (needs Java and Maven)
	@$(NODE) hack/test-stores.ts
test-kubernetes: ## Run tests of Kubernetes itself straight and through Kapis, and print what differs; ONLY=kubectl or ONLY=e2e
	@$(NODE) hack/test-kubernetes.ts
test-shippers: ## Run log shippers against Kapis: Fluent Bit, the OpenTelemetry Collector, Filebeat, rsyslog, syslog-ng, Python's Elasticsearch clients (needs Go, Python and Debian 12)
	@ONLY=e2e FOLDERS=shippers $(NODE) hack/test.ts
test-console: ## Drive KubeSphere's console 3.4.1 in Chromium, screenshots in RUN_DIR/console; it is built first, or in CONSOLE_DIR
	@folder="$${CONSOLE_DIR:-$$(hack/console.sh)}" && CONSOLE_DIR="$$folder" KAPIS_GROUP_DOMAIN=kubesphere.io KAPIS_SCREENSHOTS="$${RUN_DIR:-.run}/console" ONLY=e2e FOLDERS=console $(NODE) hack/test.ts
conformance-oidc: ## Run the OpenID Foundation's conformance suite of CONFORMANCE_SUITE (docs/openid-conformance.md)
	@$(NODE) hack/conformance-oidc.ts
test-logsql: ## Compare LINES (200000) lines and QUERIES (2000) generated LogsQL queries with VictoriaLogs, from SEED (needs Go)
	@$(NODE) node_modules/mocha/bin/mocha.js --timeout 7200000 test/logsql/compare.test.ts
bench: ## Measure against kube-apiserver and other peers, as ratios; ONLY=<name> one of them (ONLY=start: start and memory of kapis-apiserver)
	@$(NODE) hack/bench/run.ts

#: CONFORMANCE_SUITE=path make conformance-oidc: a built checkout; PLAN=text only plans whose name has it
#: FLUENT_BIT=path        make test-shippers: a Fluent Bit 4.1.1; else it is built from its sources
#: CONSOLE_DIR=path       make test-console: a built console 3.4.1, with dist and server
#: FUZZ_SECONDS=60        make fuzz: how long for each property
#: SOAK_SECONDS=3600      make soak: how long in all; NODES=5000 nodes report
#: PAIRS=50000            make soak: how many writes that are read again
.PHONY: fuzz faults soak
fuzz: ## Try generated input on kapis-apiserver and its parsers, FUZZ_SECONDS for each property
	@ONLY=e2e FOLDERS=fuzz FUZZ_SECONDS=$${FUZZ_SECONDS:-60} $(NODE) hack/test.ts
faults: ## Run the fault-injection tests under load
	@ONLY=e2e FOLDERS=faults FAULTS=long $(NODE) hack/test.ts
soak: ## Mixed load with the heartbeats of NODES nodes for SOAK_SECONDS: memory and handles must stay flat
	@ONLY=e2e FOLDERS=soak SOAK_SECONDS=$${SOAK_SECONDS:-3600} PAIRS=$${PAIRS:-50000} NODES=$${NODES:-5000} PODS=$${PODS:-1000} $(NODE) hack/test.ts

.PHONY: verify update
verify: ## Check types, style, import rules and everything generated
	@$(NODE) hack/verify.ts
update: ## Format the code and regenerate all generated files
	@$(NODE) hack/update.ts

#: IMAGE, PLATFORMS       make image: its name and machines; see hack/image.sh
#: KUBERNETES, OVERLAY    make kind: its version and manifests; see hack/kind.sh
.PHONY: image kind pack
image: ## Build the container image (needs Docker)
	@hack/image.sh
pack: ## The command line as an npm package, in dist/
	@$(NODE) hack/pack.ts
kind: ## A kind cluster with everything installed and checked (needs Docker, kind and kubectl)
	@hack/kind.sh

.PHONY: clean
clean: ## Stop what runs in RUN_DIR, and remove what was built and installed here; the shared cache stays
	@if [ -d node_modules ]; then $(NODE) hack/controlplane/down.ts; fi
	rm -rf .run .run-* coverage node_modules hack/node/node_modules
