# Three commands do everything on a fresh Debian with a Rust toolchain:
#   make demo        the main job on real input
#   make check       the tests of a commit, in some eleven minutes
#   make check-all   all tests but those of commands of their own
# `make help` lists the rest.

DESTDIR ?=
PREFIX ?= /usr
CARGO ?= cargo
OUT ?= target/demo
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
# Commit and date, as `--version` prints them: a tarball's own, or the clone's. An image's build has no history and gives COMMIT=.
COMMIT := $(shell packaging/commit)

# The host's own target, named explicitly: the static flag then does not apply to build scripts.
HOST_TARGET := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')
# The target of `node` and `ramdisk`; for another architecture, RUNNER is a command that runs its programs.
TARGET := $(HOST_TARGET)
RUNNER :=
RAMDISK_PROFILE := ramdisk
comma := ,
# Results of `all`, `node`, `ramdisk` and `manuals`. Cargo's are here whatever the caller's CARGO_TARGET_DIR and cargo's configuration
# say, since packages and `make install-built` take them from here. A variable and no --target-dir: tests/cross/cargo has its own.
INTO_TARGET := CARGO_TARGET_DIR=target
NMGEN_BINARY := target/release/nmgen
# `make nmgen` leaves it for a first try; no package takes it.
QUICK_BINARY := target/quick/nmgen
DAYONE_BINARY := target/$(TARGET)/node/dayone
RAMDISK_BINARY := target/$(TARGET)/ramdisk/nmgen-boot
MANUALS := target/manuals
# Places of sources, which a program names where it can panic, are the same in all builders' directories.
CARGO_HOME ?= $(HOME)/.cargo
PLACES := --remap-path-prefix=$(CURDIR)=. --remap-path-prefix=$(CARGO_HOME)/registry/src=registry
# The standard library's have one name, unless its source is installed (rust-src): then rustc names that.
LIBRARY := $(shell rustc --print sysroot 2>/dev/null)/lib/rustlib/src/rust
PLACES += --remap-path-prefix=$(LIBRARY)=/rustc/$(shell rustc -vV 2>/dev/null | sed -n 's/^commit-hash: //p')
# Package and features of each program: one choice for the build and for its bill of materials.
NMGEN_PACKAGE := -p nmgen
DAYONE_PACKAGE := -p agent
RAMDISK_PACKAGE := -p nmgen-boot
# STD=source builds the ramdisk program's standard library too, for size: an eighth less. It needs rustc's library source (rust-src),
# and what cargo and rustc allow with RUSTC_BOOTSTRAP only.
STD ?=
ifeq ($(STD),source)
# The library's crates count as dependencies of nmgen then, and a lint warns of each that it does not use.
BUILD_STD := -Z build-std=std,panic_abort -Z build-std-features=optimize_for_size -Z warnings --config 'build.warnings="allow"'
ramdisk: export RUSTC_BOOTSTRAP := 1
else ifneq ($(STD),)
$(error STD=$(STD): source, or nothing for the standard library that comes with rustc)
endif
# RELR=off: for a C library that cannot apply packed relocations, older than glibc 2.36, as RHEL 9's; 110 KB more.
RELR ?= $(shell printf '2.36\n%s\n' "$$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)" | sort -V -C && echo on || echo off)
ifneq ($(filter-out on off,$(RELR)),)
$(error RELR=$(RELR): on or off)
endif
PACKED_RELOCATIONS := $(if $(filter on,$(RELR)),-C link-arg=-Wl$(comma)-z$(comma)pack-relative-relocs)
# Where the bills of materials are, each named after its package; and what writes them.
SBOM := target/sbom
SBOM_WRITER ?= $(CARGO) run --locked --quiet -p sbom --
# The output directories of Debian packages, of RPMs and of the image of the files.
DEB := target/deb
RPM := target/rpm
IMAGE := target/image

# No target is a file.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

# Built separately: together, nmgen would be linked with features that only the agent needs.
all: nmgen-release node ## Build the programs

nmgen-release node ramdisk: export BUILD_VERSION := $(VERSION)$(if $(COMMIT), ($(COMMIT)))

nmgen: toolchain ## Build nmgen for a first try, in some three minutes; not for packages
	$(INTO_TARGET) $(CARGO) build --locked --profile quick $(NMGEN_PACKAGE)
	@ls -l $(QUICK_BINARY)

# A C library writes the time of its build into the program; compilers take this one (reproducible-builds.org).
nmgen-release: export SOURCE_DATE_EPOCH ?= 0
nmgen-release: toolchain ## Build nmgen for pipelines, in some nine minutes
	RUSTFLAGS="$$RUSTFLAGS $(PLACES)" $(INTO_TARGET) $(CARGO) build --locked --release $(NMGEN_PACKAGE)

help: ## Show this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 24

toolchain:
	@# PLACES has these directories, and cargo splits rustc's flags at blanks.
	@for place in "$(CURDIR)" "$(CARGO_HOME)" "$(LIBRARY)"; do case $$place in *[[:blank:]]*) \
	  echo "a build needs a directory without a blank in its path: $$place" >&2; exit 1;; esac; done
	@command -v $(CARGO) >/dev/null || { \
	  echo "cargo is missing: install a Rust toolchain (rustup, or cargo >= 1.88)" >&2; \
	  [ -z "$$SUDO_USER" ] || echo "under sudo: root needs a toolchain of its own, that of $$SUDO_USER is not in its PATH" >&2; \
	  exit 1; }
	@command -v cc >/dev/null || ./tests/install-packages gcc libc6-dev

NODE_PROGRAMS := --bin dayone
node: toolchain ## Build the agent for a node's image
	RUSTFLAGS="$$RUSTFLAGS $(PLACES) -C link-arg=-Wl,-T,nmgen/no-unwinding.ld -C link-arg=-Wl,--build-id=sha1" \
	  $(INTO_TARGET) $(CARGO) build --locked $(DAYONE_PACKAGE) $(NODE_PROGRAMS) --profile node --target $(TARGET)
	@[ ! -e $(DAYONE_BINARY) ] || packaging/split-debug $(DAYONE_BINARY)
	@ls -l $(DAYONE_BINARY)

ramdisk: toolchain ## Build the static program for an initramfs; STD=source for the smallest
	@[ "$(STD)" != source ] || [ -e "$(LIBRARY)/library/Cargo.lock" ] || { \
	  echo "STD=source needs rustc's library source: rustup component add rust-src, or your distribution's rust-src" >&2; exit 1; }
	RUSTFLAGS="$$RUSTFLAGS $(PLACES) -C target-feature=+crt-static -C llvm-args=-enable-machine-outliner=always \
	    --cfg sha2_backend=\"soft\" --cfg sha2_backend_soft=\"compact\" \
	    -C link-arg=-Wl,-T,nmgen/no-unwinding.ld $(PACKED_RELOCATIONS)" \
	  $(INTO_TARGET) $(CARGO) build --locked $(BUILD_STD) $(RAMDISK_PACKAGE) --profile $(RAMDISK_PROFILE) --target $(TARGET)
	@# A C library that cannot relocate it shows at once.
	@$(RUNNER) $(RAMDISK_BINARY) --version >/dev/null
	@ls -l $(RAMDISK_BINARY)

manuals: toolchain ## Write man pages and shell completions to target/manuals
	$(CARGO) run --locked --quiet -p nmgen --example nmgen-manuals -- $(MANUALS)
	$(CARGO) run --locked --quiet -p agent --example dayone-manuals -- $(MANUALS)

sbom: toolchain ## Write each program's bill of materials and licences to target/sbom
	$(SBOM_WRITER) --name nmgen --target $(TARGET) --output $(SBOM)/nmgen.cdx.json --licences $(SBOM)/nmgen.licences.txt -- $(NMGEN_PACKAGE)
	$(SBOM_WRITER) --name nmgen --static --target $(TARGET) --output $(SBOM)/nmgen-dracut.cdx.json --licences $(SBOM)/nmgen-dracut.licences.txt -- $(RAMDISK_PACKAGE)
	$(SBOM_WRITER) --name dayone --target $(TARGET) --output $(SBOM)/dayone.cdx.json --licences $(SBOM)/dayone.licences.txt -- $(DAYONE_PACKAGE)

demo: toolchain ## Show the main job on real input; LAB=off goes without the lab
	@CARGO="$(CARGO)" OUT=$(OUT) tests/stages/demo

demo-boot: toolchain ## Show the two-stage boot in a virtual machine
	./tests/install-packages cpio
	$(CARGO) run --locked --quiet -p tests --example lab-demo-boot

check: toolchain ## Run the tests of a commit, in ten minutes; LAB=off goes without the lab
	@CARGO="$(CARGO)" MAKE="$(MAKE)" tests/stages/check

check-all: toolchain ## Run every test but those of the commands check-boot, -delivery, -page, -selinux and -versions
	@CARGO="$(CARGO)" MAKE="$(MAKE)" tests/stages/check all

format:
	$(CARGO) fmt --all --check

lint: format
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings

# The initramfs's program must not gain a D-Bus client or an async runtime.
tree:
	@crates=$$($(CARGO) tree --locked -p nmgen -e normal --prefix none) || exit 1; \
	for crate in tokio zbus nispor; do \
	  if echo "$$crates" | grep -q "^$$crate "; then echo "nmgen depends on $$crate" >&2; exit 1; fi; done
	@echo "nmgen: no tokio, zbus or nispor"

# `make check-all` runs this if cargo-deny is installed; the suite nmgen always checks licences and sources by itself.
deny:
	@# A debug build takes half of the time, and has little to do.
	@command -v cargo-deny >/dev/null || $(CARGO) install --locked --quiet --debug cargo-deny
	$(CARGO) deny --locked check bans licenses sources

# The advisory database is fetched, or is the clone ADVISORY_DB= of it: then nothing is read from the network but crates that cargo's
# home lacks. cargo-deny wants those of every system that Cargo.lock names, more than a build fetches; it looks for the database under the
# name that it gives to the clone of its usual address.
ADVISORY_DB ?=
ADVISORY_DB_NAME := advisory-db-3157b0e258782691
advisories:
	@command -v cargo-deny >/dev/null || $(CARGO) install --locked --quiet --debug cargo-deny
ifeq ($(ADVISORY_DB),)
	$(CARGO) deny --locked check advisories
else
	@$(CARGO) fetch --locked --quiet
	@rm -rf target/advisories && mkdir -p target/advisories
	@ln -s "$(abspath $(ADVISORY_DB))" target/advisories/$(ADVISORY_DB_NAME)
	@sed 's|^\[advisories\]$$|&\ndb-path = "$(CURDIR)/target/advisories"|' deny.toml >target/advisories/deny.toml
	$(CARGO) deny --locked --offline --config target/advisories/deny.toml check advisories
endif

doc:
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --workspace --quiet

# The host's programs that suites call.
packages:
	./tests/install-packages network-manager ignition cpio git strace systemd time sosreport

# With those that build packages.
tools: packages
	./tests/install-packages build-essential debhelper lintian rpm

test: tools
	$(CARGO) test --locked --no-fail-fast --workspace

# Debian's next release as the node: its systemd, NetworkManager and Open vSwitch. CASES= chooses among the agent's cases;
# VERSIONS_TEST=two_stage has those in virtual machines, with the release's own kernel, dracut and Ignition. CONFIGURE_OVS= is the script
# of machine-config-operator, rendered, for the nodes without a document; the host's kernel has to have Open vSwitch then.
# NETWORKMANAGER= is an archive of NetworkManager's source in one directory, whose daemon the nodes then have. NMSTATE= is a version of
# nmstate: then its nmstatectl converts the fixtures beside nmgen, and no node boots.
VERSIONS_SUITE := forky
VERSIONS_TEST := dayone
CONFIGURE_OVS ?=
NETWORKMANAGER ?=
NMSTATE ?=
check-versions: toolchain packages ## Run the agent's cases on newer versions of systemd and NetworkManager
ifneq ($(NMSTATE),)
	NMSTATE=$(NMSTATE) $(CARGO) test --locked -p tests --test nmgen -- corpus::
else
	LAB_SUITE=$(VERSIONS_SUITE) REQUIRE_LAB=1 $(if $(NETWORKMANAGER),LAB_NETWORKMANAGER="$(abspath $(NETWORKMANAGER))") $(if $(CONFIGURE_OVS),CONFIGURE_OVS="$(abspath $(CONFIGURE_OVS))") $(CARGO) test --locked -p tests --test $(VERSIONS_TEST) -- \
	  --skip systemd_25 --skip without_lab:: $(CASES)
	@[ -n "$(CONFIGURE_OVS)" ] || echo "check-versions: NOT TESTED: the real configure-ovs.sh (CONFIGURE_OVS=FILE)"
endif

# In virtual machines, a dozen boots of which `make check-all` has no room for. CASES= chooses among them.
check-boot: toolchain packages ## Run the cases of early boot beside others' profiles, with network disks and 802.1X, of a larger MTU, of br-ex on bonds and of a pod
	REQUIRE_LAB=1 $(CARGO) test --locked -p tests --test boot -- $(CASES)

# With the real podman and a registry at the node's gateway.
check-delivery: toolchain packages ## Run the ways of the agent to a node, with podman and a registry
	./tests/install-packages binutils buildah docker-registry skopeo
	REQUIRE_LAB=1 $(CARGO) test --locked -p tests --test delivery -- $(CASES)

# In a virtual machine whose kernel enforces Debian's policy.
check-selinux: toolchain packages ## Run a node's life under SELinux, enforcing
	REQUIRE_LAB=1 $(CARGO) test --locked -p tests --test selinux -- $(CASES)

# In a headless Chromium of Debian's, which has a hundred packages: `make check-all` goes without it. CASES= chooses among the cases.
check-page: toolchain ## Open nmgen's pages in a browser and click through them
	./tests/install-packages chromium-headless-shell
	REQUIRE_LAB=1 $(CARGO) test --locked -p tests --test page -- $(CASES)

# mdBook is compiled into target/ the first time, in some minutes of a processor. `make check-all` goes without it.
MDBOOK := 0.5.4
book: toolchain ## Make the guides and references a book in target/book, and follow its links
	@target/mdbook/bin/mdbook --version 2>/dev/null | grep -qF 'v$(MDBOOK)' || \
	  $(CARGO) install --locked --quiet --force --no-default-features --features search --root target/mdbook mdbook@$(MDBOOK)
	$(CARGO) run --locked --quiet -p tests --example book

# Debian's next release by RUST_SUITE=forky. The minimum that is stated has to be a version that was tried.
RUST_SUITE := trixie
check-rust: toolchain ## Build and unit-test the workspace with the Rust of a Debian release
	CARGO="$(CARGO)" LAB_SUITE=$(RUST_SUITE) tests/check-rust

# ARCH= is aarch64, ppc64le or s390x; as root, with Debian's compilers in a root file system of their own. WITH=unit: the unit tests
# of both programs too, whose build takes four minutes. CASES= chooses other cases of the suite: 'bad_input:: checks::'.
WITH :=
cross: toolchain packages ## Build nmgen for another architecture and run its suite there: ARCH=s390x
	@CARGO="$(CARGO)" CASES="$(CASES)" tests/cross/run "$(ARCH)" $(CARGO) test --locked -p tests --test nmgen --
	@[ "$(WITH)" != unit ] || CARGO="$(CARGO)" tests/cross/unit "$(ARCH)"

# `make check-all` compares the documents that containers carry. FROM= names the first document. STATES=DIR compares the states of a
# directory instead, each file or directory of numbered files from the same start, in containers.
STATES :=
verdicts: toolchain packages ## Compare nmstate's verdict and dayone's on each document that needs a kernel of its own
	REQUIRE_LAB=1 STATES="$(STATES)" $(CARGO) run --locked --quiet -p tests --example lab-verdicts

# OF=packages: all files of a release but the tarball. On failure both builds stay in target/reproducible.
OF := ramdisk
reproducible: toolchain ## Build the ramdisk program in two directories and compare the bytes
	CARGO="$(CARGO)" MAKE="$(MAKE)" tests/reproducible $(OF)

# Where the project is, and where faults are reported in public. The tarball's packages name both; an empty one is left out.
URL ?=
BUG_URL ?= $(if $(URL),$(URL)/issues)
dist release: export URL := $(URL)
dist release: export BUG_URL := $(BUG_URL)

# The sources with every crate, for builders without a network. PACKAGER='Name <address>' is named by the packages, as is URL=.
dist: ## Write the source tarball with every crate to target/dist
	@CARGO="$(CARGO)" packaging/dist

check-dist: toolchain ## Build the packages of Debian and Fedora from the source tarball, without a network
	@CARGO="$(CARGO)" tests/check-dist

release: toolchain ## Check what a release needs, and write its files and checksums to target/dist
	@CARGO="$(CARGO)" MAKE="$(MAKE)" packaging/release

# For a package's own build, which has neither a lab nor a network nor root: the unit tests of every crate, and the cases that hold the
# program that was built to its golden files. The whole workspace has one choice of features, and is compiled once for both.
PACKAGE_CASES := bad_input:: checks:: derive:: diff:: drop_in:: edges:: pictures:: round_trip:: targets::
check-package: toolchain
	LAB=off $(CARGO) test --locked --quiet --workspace --lib --bin sbom
	LAB=off NMGEN_PROGRAM="$(CURDIR)/$(NMGEN_BINARY)" \
	  $(CARGO) test --locked --quiet --workspace --test nmgen -- $(PACKAGE_CASES)

# SEED= repeats a campaign, SEED= and CASE= the story of one of its nodes; LOAD=off adds no load to the host's own.
soak: toolchain ## Random faults and power cuts on nodes of the lab, for MINUTES= (30)
	$(CARGO) run --locked --quiet -p tests --example lab-soak

# FILE= takes one file or folder, BASE= another commit to compare with, CASES= the cases whose names contain one of these words.
mutants: toolchain ## List the changes of FILE=, or of the lines that differ from main, that no case notices
	@CARGO="$(CARGO)" tests/mutants

# MINUTES= for all targets together, 8 by default; TARGET= names one. 1: a find.
fuzz: toolchain ## Fuzz with coverage what reads documents and files of others; MINUTES=n
	CARGO="$(CARGO)" tests/fuzz/run

# A draw of them is a case of `make check-all`; SEED= repeats it. SHAPES= chooses by a part of the name.
SHAPES := all
shapes: toolchain ## Measure each list and map of a document, grown to a mebibyte, on every command
	SHAPES="$(SHAPES)" PROGRAMS=shipped $(CARGO) test --locked --quiet -p tests --test nmgen -- shapes:: --nocapture

profile: toolchain ## Show where the agent's time goes, moment by moment, in the lab
	$(CARGO) run --locked --quiet -p tests --example lab-profile

bench: toolchain ## Measure nmgen on 1,000 hosts, and dayone and the boot in the lab
	$(CARGO) bench --locked -p tests --bench hosts --bench fleet --bench nmstatectl
	$(CARGO) bench --locked -p tests --bench dayone-apply --bench dayone-bridge --bench dayone-changes
	$(CARGO) bench --locked -p tests --bench boot

install: all ramdisk manuals sbom ## Install below DESTDIR
	@$(MAKE) --no-print-directory install-built

# Installs existing builds, for packages and tests, which build separately.
install-built:
	@for built in $(NMGEN_BINARY) $(RAMDISK_BINARY) $(DAYONE_BINARY) $(MANUALS) $(SBOM); do [ -e "$$built" ] || { \
	  echo "install-built: $$built is missing: make all ramdisk manuals sbom" >&2; exit 1; }; done
	install -Dm755 $(NMGEN_BINARY) $(DESTDIR)$(PREFIX)/bin/nmgen
	install -Dm755 $(RAMDISK_BINARY) $(DESTDIR)$(PREFIX)/libexec/nmgen/nmgen
	install -Dm755 $(DAYONE_BINARY) $(DESTDIR)$(PREFIX)/bin/dayone
	for page in $(MANUALS)/*.[1578]; do \
	  install -Dm644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; done
	for name in nmgen dayone; do \
	  install -Dm644 $(MANUALS)/$$name.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/$$name || exit 1; \
	  install -Dm644 $(MANUALS)/_$$name $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_$$name || exit 1; \
	  install -Dm644 $(MANUALS)/$$name.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/$$name.fish || exit 1; done
	for package in nmgen nmgen-dracut dayone; do \
	  install -Dm644 -t $(DESTDIR)$(PREFIX)/share/doc/$$package $(SBOM)/$$package.cdx.json || exit 1; \
	  install -Dm644 $(SBOM)/$$package.licences.txt $(DESTDIR)$(PREFIX)/share/doc/$$package/licences.txt || exit 1; done
	cd systemd && for file in $$(find . -type f); do mode=644; [ ! -x $$file ] || mode=755; \
	  install -Dm$$mode $$file $(abspath $(DESTDIR)/)/$$file || exit 1; done
	install -Dm755 packaging/must-gather/gather_dayone $(DESTDIR)$(PREFIX)/bin/gather_dayone
	install -Dm644 packaging/must-gather/gather_dayone.1 $(DESTDIR)$(PREFIX)/share/man/man1/gather_dayone.1
	install -Dm644 packaging/sos/dayone $(DESTDIR)/etc/sos/extras.d/dayone
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/doc/dayone agent/doc/*
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/doc/nmgen nmgen/doc/*.md nmgen/doc/*.json
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/doc/nmgen/guides nmgen/doc/guides/*.md
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/doc/nmgen/pictures nmgen/doc/pictures/*.svg

deb: all ramdisk manuals sbom ## Build Debian packages in target/deb
	@$(MAKE) --no-print-directory deb-built

# From existing builds, like install-built: -d, since the programs were built with whatever Rust is here.
deb-built:
	./tests/install-packages build-essential debhelper
	rm -rf $(DEB)
	mkdir -p $(DEB)/build
	cp -r packaging/debian $(DEB)/build/debian
	cd $(DEB)/build && SOURCE=$(CURDIR) BUILD= dpkg-buildpackage -d --build=binary --no-sign

rpm: all ramdisk manuals sbom ## Build RPMs in target/rpm
	@$(MAKE) --no-print-directory rpm-built

# Debian's rpm lacks systemd's macros, and --nodeps: the build dependencies are packages of Fedora's. All times are the changelog's.
SPEC := packaging/rpm/nmgen.spec
rpm-built:
	command -v rpmbuild >/dev/null || ./tests/install-packages rpm
	rm -rf $(RPM)
	rpmbuild -bb --quiet --nodeps --build-in-place $(if $(shell rpm --eval '%{?systemd_post}'),,--load=tests/nmgen/packages/macros.systemd) \
	  --define '_topdir $(abspath $(RPM))' --define '_buildhost localhost' --define 'source_date_epoch_from_changelog 1' \
	  --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' \
	  --define 'built PREFIX=/usr' $(SPEC)
	mv $(RPM)/RPMS/*/*.rpm $(RPM)/
	rm -rf $(RPM)/BUILD* $(RPM)/RPMS $(RPM)/SOURCES $(RPM)/SPECS $(RPM)/SRPMS

image: all ramdisk manuals sbom ## Write an image of the files, as `nmgen generate --install` and layers take it, to target/image
	@$(MAKE) --no-print-directory image-built

# The stage `files` of packaging/Containerfile, from existing builds. An archive of OCI's layout, whose times are all the same.
image-built:
	command -v buildah >/dev/null || ./tests/install-packages buildah
	rm -rf $(IMAGE)
	@umask 022 && $(MAKE) --no-print-directory install-built DESTDIR=$(IMAGE)/tree
	printf 'FROM scratch\nCOPY tree/ /\n' >$(IMAGE)/Containerfile
	buildah --storage-driver vfs --root $(CURDIR)/$(IMAGE)/storage build --quiet --isolation chroot --timestamp 0 \
	  --label org.opencontainers.image.version='$(VERSION)' --tag files --file $(IMAGE)/Containerfile $(IMAGE)
	buildah --storage-driver vfs --root $(CURDIR)/$(IMAGE)/storage push --quiet files oci:$(IMAGE)/layout:$(VERSION)
	tar --create --directory=$(IMAGE)/layout --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=go=u-w \
	  --file=$(IMAGE)/nmgen-files-$(VERSION).oci.tar .
	rm -rf $(IMAGE)/tree $(IMAGE)/storage $(IMAGE)/layout $(IMAGE)/Containerfile

clean: ## Remove what was built
	$(CARGO) clean
