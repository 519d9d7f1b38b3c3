# The C library and the headers.
#
#   library     $(BUILD)/lib/libshmem.a and libshmem.so
#   headers     $(BUILD)/include/ from the table of the interface

INTERFACE := $(HOST)/oneshmem-interface
# For this machine, by the same call of Cargo if other commands are, too.
INTERFACE_HERE := $(if $(CARGO_BUILD_TARGET),,-p oneshmem-interface)

.PHONY: library headers compiled
library: $(BUILD)/lib/libshmem.a $(BUILD)/lib/libshmem.so

compiled: prerequisites
	$(if $(ALONG),$(CARGO_BUILD) $(INTERFACE_HERE) $(ALONG))
	$(if $(or $(AS_ONE),$(if $(ALONG),,alone)),$(call CARGO_C,oneshmem-capi))
	$(if $(and $(ALONG),$(INTERFACE_HERE)),,$(CARGO_HOST) -p oneshmem-interface)

# Cargo decides what is out of date; the empty recipes let make look at the results.
$(RELEASE)/libshmem.a $(INTERFACE): compiled ;

$(OBJ)/shmem.exports: $(INTERFACE)
	mkdir -p $(@D)
	$(INTERFACE) exports > $@
$(OBJ)/shmem.map: $(INTERFACE)
	mkdir -p $(@D)
	$(INTERFACE) version-script > $@

headers: compiled
	$(INTERFACE) headers $(BUILD)/include
$(addprefix $(BUILD)/include/,shmem.h shmemx.h): headers ;
