# Libraries with SMARTMAP's addresses, and programs for the Kitten kernel.
#
#   smartmap        the library and the commands oshrun, oshcc and oshinfo in build/smartmap/, laid out as build/
#                   is; everything: make BUILD=build/smartmap FEATURES=smartmap
#   test-smartmap   the C programs on it, and the smoke programs as on Kitten
#   kitten          the smoke programs, static and at a fixed address: build/kitten/

SMARTMAP        := $(BUILD)/smartmap
KITTEN          := $(BUILD)/kitten
# Kitten loads static programs at fixed addresses.
KITTEN_FLAGS    := -C relocation-model=static -C target-feature=+crt-static

# The Rust program derives its elements. With that feature, and the same commands, for all, one build of the crates serves both
# targets.
SMARTMAP_MAKE   := $(MAKE) BUILD=$(SMARTMAP) FEATURES='smartmap oneshmem/derive' ALONG='-p oneshmem-tools -p oneshmem-info'

.PHONY: smartmap smartmap-commands test-smartmap kitten kitten-rust
smartmap:
	$(SMARTMAP_MAKE) library headers names smartmap-commands
smartmap-commands: compiled
	$(call COMMANDS,oshrun oshcc oshinfo)

# The library alone is enough. The Rust program takes it from there, too: what is only for the program's
# own crate and for linking does not have all others compiled again.
kitten:
	$(SMARTMAP_MAKE) library headers kitten-rust
	mkdir -p $(KITTEN)
	$(CC) -O2 -Wall -static -no-pie -I$(SMARTMAP)/include tests/kitten/smoke.c -o $(KITTEN)/smoke \
	    -L$(SMARTMAP)/lib -lshmem -lpthread -ldl -lrt -lm
	cp $(HOST)/kitten-families $(KITTEN)/families
kitten-rust:
	$(CARGO_WITH) rustc --release --locked -p oneshmem-kitten-families --features smartmap -- $(KITTEN_FLAGS)

# The first command's packages have something of their own with these addresses; the models, documents,
# collectives and the launcher's tests have not. What they depend on is compiled for the usual tests already. Without
# optimising and with the standard library's checks, which the usual tests of one of them do without. The others name all
# packages: for fewer, Cargo might choose other features and build them once more.
WITH_CHECKS     := --config profile.dev.package.onenode-core.opt-level=0 \
                   --config profile.dev.package.onenode-core.debug-assertions=true
test-smartmap: smartmap kitten
	$(CARGO) test --locked --features smartmap $(WITH_CHECKS) \
	    -p oneshmem -p onenode-core -p oneshmem-kitten -p oneshmem-tools --lib --bin oshcc \
	    -- --skip collectives::
	ONESHMEM_SMARTMAP=1 ONESHMEM_PREFIX=$(abspath $(SMARTMAP)) \
	    ONESHMEM_KITTEN=$(abspath $(KITTEN)) $(CARGO) test --locked \
	    --workspace --test suite
	ONESHMEM_SMARTMAP=1 ONESHMEM_PREFIX=$(abspath $(SMARTMAP)) $(CARGO) test --locked \
	    --workspace --test smoke -- instructions
