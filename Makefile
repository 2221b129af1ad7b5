# Developer commands. Everything runs from a fresh clone on Debian 12: missing packages are installed.

PYTHON := .venv/bin/python
INSTALLED := .venv/.installed
UV := $(PYTHON) -m uv pip
LAB := $(PYTHON) -m switchroom dev
# With it, each of the hundreds of programs that tests start would compile its modules for seconds.
unexport PYTHONDONTWRITEBYTECODE
PACKAGES := curl sip-tester baresip-core espeak-ng sox redis-tools chromium libnss3-tools fonts-dejavu-core

.PHONY: up down demo quick contract simulate live test full check bench chaos fraud-drill load-drill soak mutants sim sim-long logs ari proto vendored docs screenshots site compose-trial lock sbom audit tools version release

up: $(INSTALLED)  ## start the lab, with two PBX nodes, and wait until it is ready
	@$(LAB) up --dir .lab --nodes 2 --port-base 0 --settings .env

down: $(INSTALLED)  ## stop the lab; logs and stored calls stay in .lab/
	@$(LAB) down --dir .lab

demo: $(INSTALLED) tools  ## start the lab and run the demo
	@$(PYTHON) -m tools.demo

quick: $(INSTALLED)  ## lint and unit tests, in less than a minute
	@$(PYTHON) -m tests.rings quick

contract: $(INSTALLED) tools  ## tests against real stores, servers and programs
	@python3 -m dev.setup.debian postgresql nftables
	@$(PYTHON) -m tests.rings contract

simulate: $(INSTALLED)  ## thousands of simulated calls, and planted faults that they must find
	@$(PYTHON) -m tests.rings simulate

live: $(INSTALLED) tools  ## tests against a real Asterisk
	@$(PYTHON) -m tests.rings live

test: $(INSTALLED) tools  ## all four rings, the simulators beside the live tests; stops at the first failure
	@python3 -m dev.setup.debian postgresql nftables
	@$(PYTHON) -m tests.rings quick contract simulate live

full: $(INSTALLED) tools  ## the four rings with the variants of tests/full.toml, before an issue is resolved
	@python3 -m dev.setup.debian postgresql nftables
	@$(PYTHON) -m tests.rings --full quick contract simulate live

check: $(INSTALLED)  ## lint, format, spelling, types, layers; vulnerabilities, if osv.dev answers
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/codespell
	.venv/bin/taplo lint --colors never pyproject.toml zensical.toml wire/error_codes/groups/*.toml
	.venv/bin/yamllint --strict .yamllint.yaml .pre-commit-config.yaml docker-compose.yml docker-compose.tls.yml docs
	.venv/bin/rumdl check --quiet .
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(UV) check --quiet
	@$(PYTHON) -m tools.npm check
	@$(PYTHON) -m tools.audit --if-reachable
	@$(PYTHON) -m tools.counts

bench: $(INSTALLED) tools  ## run the benchmarks; writes bench-out/
	@$(PYTHON) -m tools.bench

chaos: $(INSTALLED) tools  ## inject faults into real programs with 200 live calls, and with 40 that talk to bots; writes bench-out/
	@$(PYTHON) -m tools.chaos
	@$(PYTHON) -m tools.chaos.streams

fraud-drill: $(INSTALLED) tools  ## try for a minute to call costly numbers in six ways; none may reach the carrier
	@$(PYTHON) -m tools.drills fraud

load-drill: $(INSTALLED) tools  ## strangers and a customer take all they can get; other customers notice nothing
	@$(PYTHON) -m tools.drills load

soak: $(INSTALLED) tools  ## 200 live calls of mixed kinds for ten minutes; their records must match the phones' logs
	@$(PYTHON) -m tools.soak

mutants: $(INSTALLED) tools  ## change the product in small ways that tests must notice; an hour at most
	@nice $(PYTHON) -m tools.mutants

sim: $(INSTALLED)  ## run the simulator, seed after seed
	@$(PYTHON) -m tests.sim

sim-long: $(INSTALLED)  ## a million simulated calls over several engines, with all kinds of faults
	@nice $(PYTHON) -m tests.sim.cluster

logs: $(INSTALLED)  ## follow the lab's logs
	@$(LAB) logs --dir .lab

ari: $(INSTALLED)  ## regenerate the ARI client from Asterisk's API description
	@$(PYTHON) -m engine.ari.generator \
	  "$$($(PYTHON) -c 'from dev.pbx.find import find_asterisk as f; print(f().data_dir)')/rest-api" 22.10.1

proto: $(INSTALLED)  ## regenerate the gRPC messages of status callbacks
	@$(PYTHON) -m tools.proto

vendored: $(INSTALLED)  ## rebuild the console's modules of others, with their hashes
	@$(PYTHON) -m tools.npm vendored

docs: $(INSTALLED)  ## regenerate the reference, pictures, diagrams and parts of the SDKs
	@$(PYTHON) -m tools.docs.diagrams
	@$(PYTHON) -m tools.docs.log_events
	@$(PYTHON) -m tools.docs.reference
	@$(PYTHON) -m tools.docs.pictures
	@$(PYTHON) -m tools.docs.sdk

screenshots: $(INSTALLED) tools  ## take the pictures of the console's pages, with real calls
	@$(PYTHON) -m tools.screenshots

site: $(INSTALLED)  ## build the docs as a site, in .site/html; its links are checked
	@$(PYTHON) -m tools.site

compose-trial: $(INSTALLED) tools  ## validate the examples; start Compose's with TLS and real calls, which needs a Docker engine
	@.venv/bin/pytest -q tests/unit/operations tests/contract/operations
	@$(PYTHON) -m tools.compose_trial

tools:
	@python3 -m dev.setup.debian $(PACKAGES)

lock: $(INSTALLED)  ## resolve the dependencies: versions and hashes, in lock/
	@$(PYTHON) -m tools.lock

sbom: $(INSTALLED)  ## list the contents of each image in CycloneDX, in dist/
	@$(PYTHON) -m tools.sbom

version: $(INSTALLED)  ## VERSION=1.2.0: write it to all its places, and name the section of the changelog
	@$(PYTHON) -m tools.release.version "$(VERSION)"

release: $(INSTALLED)  ## VERSION=1.2.0: build wheel, source, SBOM and images into dist/, and tag; nothing is pushed
	@$(PYTHON) -m tools.release.build "$(VERSION)"

audit: $(INSTALLED)  ## compare the locked versions with published vulnerabilities; needs the network
	@$(PYTHON) -m tools.audit

# Debian's Python has no venv; an environment created by uv has no pip. Without a network, what is
# in uv's cache is enough.
$(INSTALLED): pyproject.toml lock/build.txt lock/dev.txt
	@python3 -c 'import ensurepip' 2>/dev/null || python3 -m dev.setup.debian python3-venv
	@test -x $(PYTHON) || python3 -m venv .venv
	@echo "installing into .venv"
	@$(PYTHON) -m uv --version >/dev/null 2>&1 \
	|| { $(PYTHON) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m ensurepip >/dev/null; \
	  $(PYTHON) -m pip install --quiet --require-hashes --requirement lock/build.txt; }
	@$(UV) sync --quiet --require-hashes lock/build.txt lock/dev.txt \
	|| $(UV) sync --quiet --offline --require-hashes lock/build.txt lock/dev.txt
	@$(UV) install --quiet --offline --no-deps --no-build-isolation --editable .
	@touch $@
