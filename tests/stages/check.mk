# The stages of `make check` and of `make check-all`; called by the script beside it. A stage starts when those after its colon have
# ended. Those of `make check-all` begin when `make check` has passed, and build nothing that it has built.

CARGO ?= cargo
export CARGO
run := tests/stages/run
suite := tests/stages/suite

.PHONY: check check-all format tree packages build unit lab nmgen core deny doc tools ramdisk node release machines older ovn \
  nmgen-programs nmgen-release dayone two_stage-agent two_stage-boots soak
check: format tree unit nmgen core
check-all: check deny doc nmgen-programs nmgen-release dayone two_stage-boots soak

format:
	@$(run) $@ $(MAKE) --silent format

tree:
	@$(run) $@ $(MAKE) --silent tree

packages:
	@$(run) $@ tests/stages/packages packages

build:
	@$(run) $@ tests/stages/build

unit: build
	@$(run) $@ tests/stages/unit

# The file system of the lab's nodes, from Debian's archive.
lab: packages
	@$(run) $@ tests/stages/lab prepare

nmgen: build packages
	@$(run) $@ $(suite) nmgen program

core: build lab
	@$(run) $@ $(suite) dayone core

# What `make check-all` has besides. cargo locks a profile's directory, so builds of different profiles run side by side.
deny doc tools ramdisk node release machines: check

deny:
	@$(run) $@ tests/stages/deny

doc:
	@$(run) $@ tests/stages/doc

tools:
	@$(run) $@ tests/stages/packages tools

ramdisk:
	@$(run) $@ tests/build nmgen-ramdisk

node:
	@$(run) $@ tests/build dayone-node

release:
	@$(run) $@ tests/build nmgen-release

machines:
	@$(run) $@ tests/stages/lab prepare-machines

older: machines
	@$(run) $@ tests/stages/lab prepare systemd252

ovn: machines
	@$(run) $@ tests/stages/lab prepare ovn

nmgen-programs: ramdisk node release tools
	@$(run) $@ $(suite) nmgen programs

nmgen-release: release
	@$(run) $@ $(suite) nmgen release

two_stage-agent: node release ramdisk machines
	@$(run) $@ $(suite) two_stage agent

# The agent's stories in virtual machines come first. Beside the containers they are so slow that they reach their bounds and run
# again. Single boots are not.
dayone: two_stage-agent older ovn
	@$(run) $@ $(suite) dayone rest

two_stage-boots: two_stage-agent
	@$(run) $@ $(suite) two_stage boots

soak: check
	@$(run) $@ tests/stages/soak
