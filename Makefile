# oneshmem. `make demo` shows that it works, `make test` that the C programs of its tests do.
#
#   make                 build everything into build/, laid out like an installation
#   make demo            compile the integer sort and run it on 4 PEs: with what is built, or else with the
#                        library and commands that it needs, which compile in a minute of a CPU's time: build/quick/
#   make test            unit tests, and the C programs on a few numbers of PEs: five minutes
#   make check           every check and test with this machine's compilers: fifteen minutes
#   make test-tsan       the threads of a PE under ThreadSanitizer
#   make test-xpmem      the C tests over XPMEM, in a virtual machine if need be
#   make test-nodes      the C tests over two emulated nodes
#   make test-rdma       jobs over RDMA, in two emulated machines
#   make test-aarch64    the C tests on an emulated AArch64 machine
#   make test-devices    partitions on a CUDA device, over its driver
#   make test-smartmap   the same C programs on a library with SMARTMAP's addresses
#   make kitten          the programs for the Kitten kernel: build/kitten/
#   make bench           benchmarks beside raw shared memory: minutes; QUICK=1: about one
#   make figures         the figures of the papers behind the library, on a page: build/figures/; QUICK=1: scaled down
#   make docs            the book in docs/ as pages: build/docs/index.html (needs mdbook)
#   make node-dist       onenode.h, libonenode and their pages for those without Rust: build/dist/
#   make wheel           a Python wheel with everything but static libraries: build/wheel/ (needs python3)
#   make install         install into $(DESTDIR)$(PREFIX); needs no cargo after `make`
#   make install-strip   the same, without symbols and debug information
#   make uninstall       remove what `make install` with the same variables has installed
#   make test-reproducible   build twice in two places and compare: minutes
#   make test-msrv       build and run with the oldest Rust that Cargo.toml names: minutes; ONLY=types: check types
#   make test-packages   build crates, a wheel, an archive of onenode, Debian and RPM packages with the tools that are there: minutes
#   make clean           remove what was built
#
# Variables for building: CC, CFLAGS, CPPFLAGS, LDFLAGS (what is C or linked by CC), RUSTFLAGS, CARGO,
# CARGO_BUILD_TARGET (for another kind of machine, with CC: see packaging/cross.mk), CARGO_TARGET_DIR, BUILD [build], FEATURES (smartmap), MDBOOK; INSTALL_PREREQUISITES=1 lets `make`
# install a missing C compiler by apt-get.
# For installing: DESTDIR, PREFIX [/usr/local], BINDIR [$(PREFIX)/bin], LIBDIR [$(PREFIX)/lib],
# INCLUDEDIR [$(PREFIX)/include], DATADIR [$(PREFIX)/share], MANDIR [$(DATADIR)/man].
# PACKAGES (crates deb rpm wheel node) for `make test-packages`. PES and KEYS for `make demo`, QUICK and BENCH_FLAGS (such as BENCH_FLAGS="--peer NAME=/path/to/bin")
# for `make bench` and `make figures`, FIGURE for the latter.

BUILD   ?= build
CARGO   ?= cargo
MDBOOK  ?= mdbook
PES     ?= 4
KEYS    ?=

export CARGO_TARGET_DIR ?= $(CURDIR)/target
# Cargo's profile, and what it builds beside the library in the same run: all at once takes less time, on all
# CPUs, and nothing is compiled again for fewer features.
PROFILE := release
ALONG   :=
# What is built: with CARGO_BUILD_TARGET for that kind of machine, as Cargo calls it. Programs that are run
# while building are made for this one.
HOST    := $(CARGO_TARGET_DIR)/$(PROFILE:dev=debug)
RELEASE := $(CARGO_TARGET_DIR)/$(CARGO_BUILD_TARGET:%=%/)$(PROFILE:dev=debug)
# Release builds hold no paths of this machine, so they are the same wherever they are made.
# Of several that match, rustc takes the last.
REMAPPED := $(CURDIR)=/oneshmem $(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo $(CARGO_TARGET_DIR)=/oneshmem/target
# A release's C libraries are optimised as one with all that they use, for which crates carry bitcode beside code.
# Commands are not worth that time.
AS_ONE   := $(if $(filter release,$(PROFILE)),-Clto=fat)
# The flags for linking are for the commands, too, which rustc links. Without any, tests are compiled from the same crates.
FLAGS    := $(strip $(RUSTFLAGS) $(LDFLAGS:%=-Clink-arg=%) \
                $(if $(AS_ONE),$(REMAPPED:%=--remap-path-prefix=%) -Cembed-bitcode))
CARGO_WITH  = $(if $(FLAGS),RUSTFLAGS="$(FLAGS)") $(CARGO)
CARGO_BUILD = $(CARGO_WITH) build --profile $(PROFILE) --locked $(FEATURES:%=--features %)
CARGO_C     = $(CARGO_WITH) rustc --profile $(PROFILE) --locked $(FEATURES:%=--features %) -p $(1) --lib -- $(AS_ONE)
CARGO_HOST  = env -u CARGO_BUILD_TARGET RUSTFLAGS= $(CARGO) build --profile $(PROFILE) --locked
VERSION := $(shell sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)

.PHONY: all quick quick-commands demo test check test-partitions test-tsan test-xpmem test-nodes test-rdma test-aarch64 test-devices test-msrv test-packages test-reproducible bench figures docs node-dist wheel clean prerequisites tools library headers names packages pages
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

PAGES_HERE  := $(if $(CARGO_BUILD_TARGET),,-p oneshmem-pages)
COMMANDS_OF := -p oneshmem-tools -p oneshmem-info -p oneshmem-top -p oneshmem-tune
all: ALONG := $(COMMANDS_OF) -p onenode $(PAGES_HERE)
all: compiled tools library headers openmp names node mpi packages pages
	@touch $(COMPLETE)

# The compiler's own linker and so on, for other kinds of machines, too.
include packaging/cross.mk
# How Cargo's libraries become C libraries.
include packaging/relocatable.mk
# What the C library and the headers are made from: targets `library` and `headers`.
include interface/capi/library.mk
# Mapped arrays of OpenMP in partitions: target `openmp`.
include interface/openmp/library.mk
# The on-node layer for other runtimes: target `node`.
include node/capi/library.mk
# One-sided MPI over shared memory: target `mpi`.
include node/mpi/files.mk
# Targets `smartmap`, `test-smartmap`, `kitten`.
include kitten/kitten.mk
# Targets `install`, `install-strip`, `uninstall`.
include packaging/install.mk

tools: prerequisites
	$(CARGO_BUILD) $(or $(ALONG),$(COMMANDS_OF) $(PAGES_HERE))
	$(call COMMANDS,oshrun oshcc oshinfo oshtop oshtune)

define COMMANDS
mkdir -p $(BUILD)/bin
install -C -m 755 $(addprefix $(RELEASE)/,$(1)) $(BUILD)/bin
ln -sf oshrun $(BUILD)/bin/shmemrun
for name in oshc++ oshCC oshcxx; do ln -sf oshcc $(BUILD)/bin/$$name; done
endef

# Further names under which build systems look for the library.
names: library
	for name in sma oshmem; do for kind in so a; do \
	    ln -sf libshmem.$$kind $(BUILD)/lib/lib$$name.$$kind || exit; \
	done; done
	mkdir -p $(BUILD)/lib/pkgconfig
	for name in oshmem sos sandia-openshmem; do ln -sf shmem.pc $(BUILD)/lib/pkgconfig/$$name.pc || exit; done

packages: $(addprefix $(BUILD)/lib/pkgconfig/,shmem.pc onenode.pc) \
          $(foreach name,oneshmem onenode, \
              $(addprefix $(BUILD)/lib/cmake/$(name)/$(name)-config,.cmake -version.cmake)) \
          $(addprefix $(BUILD)/lib/cmake/OpenSHMEM/OpenSHMEMConfig,.cmake Version.cmake)

FROM_TEMPLATE = mkdir -p $(@D) && packaging/from-template $(VERSION) ../include ../bin < $< > $@
$(BUILD)/lib/pkgconfig/%: packaging/%.in packaging/from-template Cargo.toml
	$(FROM_TEMPLATE)
# A rule for each folder: with several patterns, one rule would be taken to make all of them at once.
$(foreach name,oneshmem onenode OpenSHMEM,$(eval \
    $(BUILD)/lib/cmake/$(name)/%: packaging/%.in packaging/from-template Cargo.toml ; $$(FROM_TEMPLATE)))
$(BUILD)/lib/cmake/%-config-version.cmake: packaging/config-version.cmake.in packaging/from-template Cargo.toml
	$(FROM_TEMPLATE)

# All manual pages, and what bash, zsh and fish complete. The date in pages is the release's, so that builds
# can be reproduced.
DATE := $(shell sed -n 's/^date = "\(.*\)"/\1/p' Cargo.toml)
pages: tools
	$(if $(PAGES_HERE),,$(CARGO_HOST) -p oneshmem-pages)
	$(HOST)/oneshmem-pages packaging/man $(BUILD)/share $(DATE)
	for name in c++ CC cxx; do ln -sf oshcc.1 $(BUILD)/share/man/man1/osh$$name.1; done
	ln -sf oshrun.1 $(BUILD)/share/man/man1/shmemrun.1

prerequisites:
	@packaging/prerequisites

# The few parts that `make demo` and `make test` need, compiled in less time and all at once, for the latter with the
# tests themselves, in a tree of their own, from which nothing is installed.
QUICK_TREE := $(BUILD)/quick
QUICKLY    := -p oneshmem-tools -p oneshmem-capi
quick:
	$(MAKE) --no-print-directory BUILD=$(QUICK_TREE) PROFILE=dev ALONG='$(QUICKLY)' library headers mpi quick-commands
quick-commands: compiled
	$(call COMMANDS,oshrun oshcc)

# With what `make` has built, if it is there.
DEMO = $(if $(OUTDATED),$(QUICK_TREE),$(BUILD))
demo: $(if $(OUTDATED),quick)
	mkdir -p $(DEMO)/examples
	$(DEMO)/bin/oshcc -O2 examples/isort.c -o $(DEMO)/examples/isort
	$(DEMO)/bin/oshrun -n $(PES) $(DEMO)/examples/isort $(KEYS)

# Steps and their summary: see tests/check.
TESTED := --workspace --exclude oneshmem-bench
test:
	BUILD=$(BUILD) ONESHMEM_PREFIX=$(abspath $(QUICK_TREE)) CARGO=$(CARGO) MAKE=$(MAKE) \
	    TESTED='$(TESTED)' tests/check test

check:
	BUILD=$(BUILD) CARGO=$(CARGO) MAKE=$(MAKE) tests/check all

# The conformance tests over XPMEM, here or in a virtual machine: see tests/xpmem/run.
test-xpmem: all
	tests/xpmem/run

# Every C program that allocates, with memory of a partition in the place of the heap's, at all numbers
# of PEs, and with memory of an imitated device; `make test` runs each of them once.
test-partitions: all
	ONESHMEM_TEST_ALL=1 ONESHMEM_TEST_PARTITIONS=1 $(CARGO) test --locked -q --workspace --test suite -- /partition

# The conformance tests over two emulated nodes; `make test` has a few of them.
test-nodes: all
	ONESHMEM_TEST_NODES=1 $(CARGO) test --locked -q --workspace --test suite -- far/

# Jobs over RDMA, in two virtual machines: see tests/rdma/run.
test-rdma:
	@tests/rdma/run needs
	$(MAKE) --no-print-directory all
	tests/rdma/run

# Unit tests and the C tests on AArch64, in a virtual machine: see tests/aarch64/run.
test-aarch64:
	tests/aarch64/run

# Partitions on a real device: see tests/devices/run.
test-devices: all
	tests/devices/run

# The driver needs no optimisation: what it measures are other programs. Cargo shows how it builds it.
bench: all
	$(CARGO) build --locked -p oneshmem-bench
	$(CARGO) run --locked -q -p oneshmem-bench -- run $(if $(QUICK),--quick) --own oneshmem=$(BUILD)/bin \
	    --work $(BUILD)/bench $(BENCH_FLAGS)

# FIGURE: a paper, and a number if wanted (FIGURE="mapping 5"), or today. Those of mapping have curves of SMARTMAP's addresses.
figures: all $(if $(filter mapping,$(FIGURE)),smartmap)
	$(CARGO) build --locked -p oneshmem-bench
	$(CARGO) run --locked -q -p oneshmem-bench -- figures $(FIGURE) $(if $(QUICK),--quick) --own oneshmem=$(BUILD)/bin \
	    --smartmap $(BUILD)/smartmap/bin --work $(BUILD)/figures $(BENCH_FLAGS)

# The threads of a PE under ThreadSanitizer.
test-tsan: all
	tests/tsan

# What is built does not depend on where and when: see tests/reproducible.
test-reproducible:
	tests/reproducible

# With the oldest Rust that Cargo.toml names: see tests/msrv.
test-msrv:
	CARGO='$(CARGO)' CC='$(CC)' tests/msrv

# Packages as distributions and crates.io build them: see tests/packages.
test-packages:
	BUILD=$(BUILD) CARGO=$(CARGO) tests/packages $(PACKAGES)

# The book, with the routines' manual pages as its last part. Its commands are run by the tests (tests/runner/book.rs), which need no mdbook.
docs:
	@command -v $(MDBOOK) > /dev/null || { \
	    echo 'make docs needs mdbook, which is not in PATH. Install it by' >&2; \
	    echo '    cargo install --locked mdbook --version 0.5.4' >&2; \
	    echo 'or name it by MDBOOK=path/to/mdbook. The pages can be read without it: docs/src/SUMMARY.md' >&2; \
	    exit 1; }
	$(CARGO_HOST) -p oneshmem-pages
	MDBOOK_PREPROCESSOR__MANUAL__COMMAND='$(HOST)/oneshmem-pages --book $(DATE)' \
	    $(MDBOOK) build docs --dest-dir $(abspath $(BUILD))/docs

# The on-node layer alone, with checksums: see packaging/node-dist.
node-dist: node packages pages
	CARGO='$(CARGO)' packaging/node-dist $(BUILD) $(VERSION) $(DATE) $(BUILD)/dist

# What `make install-strip` installs, packed: see packaging/wheel/pack.
wheel: all
	rm -rf $(BUILD)/wheel
	$(MAKE) --no-print-directory -s install-strip DESTDIR=$(abspath $(BUILD))/wheel/tree PREFIX=/prefix > /dev/null
	packaging/wheel/pack $(BUILD)/wheel/tree/prefix $(VERSION) $(DATE) $(BUILD)/wheel

clean:
	$(CARGO) clean
	rm -rf $(BUILD)
