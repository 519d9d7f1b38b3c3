# The C library and the headers.
#
#   library     $(BUILD)/lib/libshmem.a and libshmem.so
#   headers     include/ from the table of the interface, and its copy in $(BUILD)/include
#
# Cargo makes a static library that carries all of Rust's runtime. What is linked
# out of it, one object in which only the routines of the interface are global, can
# stand in one program with other Rust libraries and serves both kinds of library.

OBJ       := $(BUILD)/obj
INTERFACE := $(RELEASE)/oneshmem-interface
OBJCOPY   ?= objcopy
LD        ?= ld

.PHONY: library headers compiled
library: $(BUILD)/lib/libshmem.a $(BUILD)/lib/libshmem.so

compiled: prerequisites
	$(CARGO) build --release  -p oneshmem-capi -p oneshmem-interface $(FEATURES:%=--features %)

# Cargo decides what is out of date; the empty recipes let make look at the results.
$(RELEASE)/libshmem.a $(INTERFACE): compiled ;

$(OBJ)/exports: $(INTERFACE)
	mkdir -p $(@D)
	$(INTERFACE) exports > $@
$(OBJ)/libshmem.map: $(INTERFACE)
	mkdir -p $(@D)
	$(INTERFACE) version-script > $@

# The sections removed hold what only a compiler reads, and mislead its linker plugin.
$(OBJ)/shmem.o: $(RELEASE)/libshmem.a $(OBJ)/exports
	sed 's/^/--undefined=/' $(OBJ)/exports > $(OBJ)/roots
	$(LD) -r --gc-sections @$(OBJ)/roots -o $(OBJ)/all.o $<
	$(OBJCOPY) --keep-global-symbols=$(OBJ)/exports \
	    --remove-section=.llvmbc --remove-section=.llvmcmd $(OBJ)/all.o $@
	rm -f $(OBJ)/all.o

$(BUILD)/lib/libshmem.a: $(OBJ)/shmem.o
	mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $<

$(BUILD)/lib/libshmem.so.1: $(OBJ)/shmem.o $(OBJ)/libshmem.map
	mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libshmem.so.1 -Wl,--version-script=$(OBJ)/libshmem.map \
	    -Wl,-z,relro,-z,now -Wl,--no-undefined $< -Wl,--as-needed -lgcc_s -lpthread -ldl -lm -o $@
$(BUILD)/lib/libshmem.so: $(BUILD)/lib/libshmem.so.1
	ln -sf libshmem.so.1 $@

headers: compiled
	$(INTERFACE) headers include
	mkdir -p $(BUILD)/include
	cp -a include/. $(BUILD)/include/
