# What a developer types. Everything runs from a fresh clone on Debian 12: what is missing is installed.

PYTHON := .venv/bin/python
INSTALLED := .venv/.installed
PACKAGES := sip-tester espeak-ng sox

.PHONY: up down demo quick contract simulate live test check bench chaos sim sim-long logs ari proto docs compose-trial tools

up: $(INSTALLED) tools  ## start the lab, and wait until it is ready
	@$(PYTHON) -m tests.harness.lab up

down: $(INSTALLED)  ## stop it; logs and stored calls stay in .lab/
	@$(PYTHON) -m tests.harness.lab down

demo: $(INSTALLED) tools  ## start the lab, and show it at work
	@$(PYTHON) -m tests.demo

quick: $(INSTALLED)  ## lint and the unit tests, in less than a minute
	@$(PYTHON) -m tests.rings quick

contract: $(INSTALLED) tools  ## tests against real stores, servers and programs
	@python3 tests/harness/debian.py postgresql
	@$(PYTHON) -m tests.rings contract

simulate: $(INSTALLED)  ## thousands of simulated calls, and the faults that they must find
	@$(PYTHON) -m tests.rings simulate

live: $(INSTALLED) tools  ## tests against a real Asterisk
	@$(PYTHON) -m tests.rings live

test: $(INSTALLED) tools  ## all four rings, in that order; the first that fails is the last
	@python3 tests/harness/debian.py postgresql
	@$(PYTHON) -m tests.rings quick contract simulate live

check: $(INSTALLED)  ## lint, format, spelling, types, layers
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/codespell
	.venv/bin/taplo lint --colors never pyproject.toml
	.venv/bin/yamllint --strict .yamllint.yaml .pre-commit-config.yaml docker-compose.yml docs
	.venv/bin/rumdl check --quiet .
	.venv/bin/mypy
	.venv/bin/lint-imports

bench: $(INSTALLED) tools  ## measure; writes bench-out/
	@$(PYTHON) -m tests.bench

chaos: $(INSTALLED) tools  ## faults on real programs under 200 live calls; writes bench-out/
	@$(PYTHON) -m tests.chaos

sim: $(INSTALLED)  ## the simulator, seed after seed
	@$(PYTHON) -m tests.sim

sim-long: $(INSTALLED)  ## a million simulated calls over several engines, with faults of every kind
	@nice $(PYTHON) -m tests.sim.cluster

logs: $(INSTALLED)  ## follow what the lab says
	@$(PYTHON) -m tests.harness.lab logs

ari: $(INSTALLED)  ## generate the ARI client anew, from the description that Asterisk carries
	@$(PYTHON) -m engine.ari.generator \
	  "$$($(PYTHON) -c 'from tests.harness.pbx.find import find_asterisk as f; print(f().data_dir)')/rest-api" 22.10.1

proto: $(INSTALLED)  ## generate the gRPC messages of status callbacks anew
	@$(PYTHON) -m tests.harness.generate.proto

docs: $(INSTALLED)  ## draw the state diagrams anew, and write the JSON Schemas
	@$(PYTHON) -m tests.harness.generate.diagrams
	@$(PYTHON) -m tests.harness.generate.schemas

compose-trial: $(INSTALLED) tools  ## try docker-compose.yml for real, where a Docker engine answers
	@$(PYTHON) -m tests.harness.lab.compose_trial

tools:
	@python3 tests/harness/debian.py $(PACKAGES)

# Debian's Python comes without venv; an environment that uv made comes without pip.
$(INSTALLED): pyproject.toml
	@python3 -c 'import ensurepip' 2>/dev/null || python3 tests/harness/debian.py python3-venv
	@test -x $(PYTHON) || python3 -m venv .venv
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m ensurepip >/dev/null
	@echo "installing into .venv"
	@{ $(PYTHON) -m pip install --quiet uv \
	  && $(PYTHON) -m uv pip install --quiet --python $(PYTHON) --editable '.[dev]'; } \
	|| $(PYTHON) -m pip install --quiet --editable '.[dev]'
	@touch $@
