# Libraries with SMARTMAP's addresses, and programs for the Kitten kernel.
#
#   smartmap        the library and commands in build/smartmap/, laid out as build/ is
#   test-smartmap   the C programs on it, and the smoke programs as on Kitten
#   kitten          the smoke programs, static and at a fixed address: build/kitten/

SMARTMAP        := $(BUILD)/smartmap
SMARTMAP_TARGET := $(CARGO_TARGET_DIR)/smartmap
KITTEN          := $(BUILD)/kitten
TRIPLE          := $(shell uname -m)-unknown-linux-gnu
# Kitten loads static programs at fixed addresses, and saves no state beyond SSE's.
KITTEN_FLAGS    := -C relocation-model=static -C target-feature=+crt-static -C target-cpu=x86-64

.PHONY: smartmap test-smartmap kitten
smartmap:
	$(MAKE) BUILD=$(SMARTMAP) FEATURES=smartmap CARGO_TARGET_DIR=$(SMARTMAP_TARGET) \
	    tools library headers names

kitten: smartmap
	mkdir -p $(KITTEN)
	$(SMARTMAP)/bin/oshcc -O2 -Wall -static kitten/smoke/smoke.c -o $(KITTEN)/smoke
	RUSTFLAGS="$(KITTEN_FLAGS)" CARGO_TARGET_DIR=$(SMARTMAP_TARGET) $(CARGO) build --release --locked \
	    -p oneshmem --features smartmap --example kitten-smoke --target $(TRIPLE)
	cp $(SMARTMAP_TARGET)/$(TRIPLE)/release/examples/kitten-smoke $(KITTEN)/smoke-rust

# The models of onenode (node/tests/model_*) do not depend on addresses. The last command names the
# packages of `make test`: for fewer, cargo might choose other features and build them once more.
test-smartmap: kitten
	CARGO_TARGET_DIR=$(SMARTMAP_TARGET) $(CARGO) test --locked --features smartmap \
	    -p oneshmem -p oneshmem-kitten -p oneshmem-tools
	CARGO_TARGET_DIR=$(SMARTMAP_TARGET) $(CARGO) test --locked --features smartmap \
	    -p onenode --lib --test nodes
	ONESHMEM_SMARTMAP=1 ONESHMEM_PREFIX=$(abspath $(SMARTMAP)) \
	    ONESHMEM_KITTEN=$(abspath $(KITTEN)) $(CARGO) test --locked \
	    -p oneshmem-tests --test suite
	ONESHMEM_SMARTMAP=1 ONESHMEM_PREFIX=$(abspath $(SMARTMAP)) $(CARGO) test --locked \
	    --workspace --exclude oneshmem-tests --test smoke -- instructions
