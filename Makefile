# hack/setup.sh installs the Node.js and the dependencies of each target.
SHELL := /bin/bash
NODE := hack/setup.sh node
# Suppresses warnings of Node.js about experimental features, on which users cannot act.
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
#: PORT=9443              port of Kapis; the next free one if it is in use
#: LOG_STORE=embedded     log store: embedded, opensearch (needs Java 21 and Maven) or none
#: STORE=opensearch-3.8   search engine of LOG_STORE=opensearch and of the tests (hack/opensearch)
#: RUN_DIR=.run           folder for the state of the control plane; use another one to run several
#: KAPIS_GROUP_DOMAIN     domain of the API groups (kapis.io)
#: ONLY, GREP             make test: unit or e2e; only tests whose title matches. make bench ONLY=<name>
#: TIMINGS=1              make test: print the 40 slowest files and tests
#: KUBEBUILDER_ASSETS     folder with etcd, kube-apiserver and kubectl, such as that of setup-envtest; built by default

.PHONY: run up down
run: ## Start a control plane, sample nodes and pods, and Kapis; Ctrl-C stops them
	@$(NODE) hack/controlplane/run.ts
up: ## Start the same in the background; return when it is ready
	@$(NODE) hack/controlplane/up.ts
down: ## Stop what `make up` started
	@$(NODE) hack/controlplane/down.ts

.PHONY: test test-unit test-e2e test-stores test-kubernetes test-shippers test-console test-logsql conformance-oidc bench
test: ## Run all tests; the last line is `N passed, N failed`
	@$(NODE) hack/test.ts
test-unit: ## Run the tests that need no control plane
	@ONLY=unit $(NODE) hack/test.ts
test-e2e: ## Run the tests that need a control plane, on a separate one
	@ONLY=e2e $(NODE) hack/test.ts
test-stores: ## Run the log store's tests on OpenSearch 1 to 3 and Elasticsearch 7.10 to 9, or only on STORE (needs Java and Maven)
	@$(NODE) hack/test-stores.ts
test-kubernetes: ## Run Kubernetes' own tests directly and through Kapis, and print the differences; ONLY=kubectl or ONLY=e2e
	@$(NODE) test/kubernetes/run.ts
test-shippers: ## Run log shippers against Kapis: Fluent Bit, the OpenTelemetry Collector, Filebeat, rsyslog, syslog-ng, Python's Elasticsearch clients (needs Go, Python and Debian 12)
	@ONLY=e2e FOLDERS=shippers $(NODE) hack/test.ts
test-console: ## Test KubeSphere's console 3.4.1 in Chromium, with screenshots in RUN_DIR/console; builds it unless CONSOLE_DIR is set
	@folder="$${CONSOLE_DIR:-$$(hack/console.sh)}" && CONSOLE_DIR="$$folder" KAPIS_GROUP_DOMAIN=kubesphere.io KAPIS_SCREENSHOTS="$${RUN_DIR:-.run}/console" ONLY=e2e FOLDERS=console $(NODE) hack/test.ts
conformance-oidc: ## Run the OpenID Foundation's conformance suite of CONFORMANCE_SUITE (docs/openid-conformance.md)
	@$(NODE) test/conformance-oidc/run.ts
test-logsql: ## Compare LINES (200000) lines and QUERIES (2000) generated LogsQL queries with VictoriaLogs, from SEED (needs Go)
	@$(NODE) node_modules/mocha/bin/mocha.js --timeout 7200000 test/logsql/compare.test.ts
bench: ## Run the benchmarks against kube-apiserver and other peers; ONLY=<name> runs one (ONLY=start: start time and memory of kapis-apiserver)
	@$(NODE) hack/bench/run.ts

#: CONFORMANCE_SUITE=path make conformance-oidc: a built checkout; PLAN=text runs only plans whose name contains it
#: FLUENT_BIT=path        make test-shippers: program of Fluent Bit 4.1.1; built from source by default
#: CONSOLE_DIR=path       make test-console: a built console 3.4.1, with dist and server
#: FUZZ_SECONDS=60        make fuzz: duration for each property
#: SOAK_SECONDS=3600      make soak: total duration; with NODES=5000 nodes
#: PAIRS=50000            make soak: number of writes that are read back
.PHONY: fuzz faults soak
fuzz: ## Test kapis-apiserver and its parsers with generated input, for FUZZ_SECONDS per property
	@ONLY=e2e FOLDERS=fuzz FUZZ_SECONDS=$${FUZZ_SECONDS:-60} $(NODE) hack/test.ts
faults: ## Run the fault-injection tests under load
	@ONLY=e2e FOLDERS=faults FAULTS=long $(NODE) hack/test.ts
soak: ## Run mixed load with the heartbeats of NODES nodes for SOAK_SECONDS, and check that memory and handles do not grow
	@ONLY=e2e FOLDERS=soak SOAK_SECONDS=$${SOAK_SECONDS:-3600} PAIRS=$${PAIRS:-50000} NODES=$${NODES:-5000} PODS=$${PODS:-1000} $(NODE) hack/test.ts

.PHONY: verify update
verify: ## Check types, style, import rules and generated files
	@$(NODE) hack/verify.ts
update: ## Format the code and regenerate all generated files
	@$(NODE) hack/update.ts

#: IMAGE, PLATFORMS       make image: name and platforms of the image; see hack/image.sh
#: KUBERNETES, OVERLAY    make kind: version of Kubernetes and overlay; see hack/kind.sh
.PHONY: image kind pack
image: ## Build the container image (needs Docker)
	@hack/image.sh
pack: ## Build the npm package of the command line in dist/
	@$(NODE) hack/pack.ts
kind: ## Create a kind cluster with Kapis, and check it (needs Docker, kind and kubectl)
	@hack/kind.sh

.PHONY: clean
clean: ## Stop the processes of RUN_DIR, and remove build results and installed programs, except the shared cache
	@if [ -d node_modules ]; then $(NODE) hack/controlplane/down.ts; fi
	rm -rf .run .run-* coverage node_modules hack/node/node_modules
