# Mapped arrays of OpenMP in partitions: $(BUILD)/lib/liboneshmem_openmp.so and .a. Not part of
# libshmem, which needs no OpenMP; what is OpenMP's is found when a program is linked.

OPENMP := $(addprefix $(BUILD)/lib/liboneshmem_openmp.,so a)
CFLAGS_OPENMP := -std=gnu11 -Wall -Wextra -I$(BUILD)/include -fPIC -fno-lto

.PHONY: openmp
openmp: $(OPENMP)

$(OBJ)/openmp.o: interface/openmp/shim.c $(addprefix $(BUILD)/include/,shmem.h shmemx.h)
	mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(or $(CFLAGS),-O2) $(CFLAGS_OPENMP) -c $< -o $@
$(BUILD)/lib/liboneshmem_openmp.so: $(OBJ)/openmp.o
	mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -Wl,-soname,liboneshmem_openmp.so $(LDFLAGS) $< -o $@ -ldl
$(BUILD)/lib/liboneshmem_openmp.a: $(OBJ)/openmp.o
	mkdir -p $(@D)
	rm -f $@
	$(AR) rcsD $@ $<
