# Building for another kind of machine:
#
#   make CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu CC=aarch64-linux-gnu-gcc
#
# CARGO_BUILD_TARGET is its name for Rust, whose library for it has to be installed, and CC a compiler for
# it, by which Cargo links, too. That compiler names the linker and the other programs below. Programs of
# the other machine are never run.

ifneq ($(CARGO_BUILD_TARGET),)
export CARGO_BUILD_TARGET
# Those that neither the environment nor the command line names.
of_compiler = $(if $(filter default file undefined,$(origin $(1))),$(shell $(CC) -print-prog-name=$(2)),$($(1)))
LD      := $(call of_compiler,LD,ld)
AR      := $(call of_compiler,AR,ar)
NM      := $(call of_compiler,NM,nm)
OBJCOPY := $(call of_compiler,OBJCOPY,objcopy)
STRIP   := $(call of_compiler,STRIP,strip)
LINKER  := CARGO_TARGET_$(shell echo '$(CARGO_BUILD_TARGET)' | tr a-z- A-Z_)_LINKER
$(LINKER) ?= $(CC)
export $(LINKER)
endif
