# One-sided MPI over shared memory, preloaded into programs of MPI.
#
#   mpi         $(BUILD)/bin/onenode-mpi, and the sources from which it builds the library for each MPI

MPI_FILES := $(wildcard node/mpi/*.[ch])

.PHONY: mpi
mpi: $(BUILD)/bin/onenode-mpi $(MPI_FILES:node/mpi/%=$(BUILD)/share/onenode/mpi/%)

$(BUILD)/bin/onenode-mpi: node/mpi/onenode-mpi
	mkdir -p $(@D)
	install -m 755 $< $@
$(BUILD)/share/onenode/mpi/%: node/mpi/%
	mkdir -p $(@D)
	install -m 644 $< $@
