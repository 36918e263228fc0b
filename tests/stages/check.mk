# The stages of `make check` and of `make quick`; called by the script beside it. A stage starts when those after its colon have ended.
# cargo locks target/debug, so its stages run one after the other: build, lint, doc, unit.

CARGO ?= cargo
export CARGO
run := tests/stages/run
# Suites and the lab have priority for the cores; the stages below them fill the gaps.
later := nice -n 15

.PHONY: check quick format tree deny packages build ramdisk lint doc unit lab machines older nmgen dayone two_stage soak
quick: format tree deny lint doc unit nmgen dayone
check: quick older two_stage soak

format:
	@$(run) $@ $(MAKE) --silent format

tree:
	@$(run) $@ $(MAKE) --silent tree

deny:
	@$(run) $@ tests/stages/deny

packages:
	@$(run) $@ tests/stages/packages

build:
	@$(run) $@ tests/stages/build

ramdisk:
	@$(run) $@ tests/build nmgen-ramdisk

lint: build
	@$(run) $@ $(later) $(MAKE) --silent lint

doc: lint
	@$(run) $@ $(later) $(MAKE) --silent doc

unit: doc
	@$(run) $@ $(later) tests/stages/unit

# The file systems of the lab's nodes, from Debian's archive.
lab: packages
	@$(run) $@ tests/stages/lab prepare

machines: lab
	@$(run) $@ tests/stages/lab prepare-machines

older: machines
	@$(run) $@ tests/stages/lab prepare systemd252

nmgen: build ramdisk packages
	@$(run) $@ tests/stages/suite $@

dayone: build lab
	@$(run) $@ tests/stages/suite $@

two_stage: build ramdisk machines
	@$(run) $@ tests/stages/suite $@

soak: build lab
	@$(run) $@ tests/stages/soak
