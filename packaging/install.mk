# Installing what is built, without cargo.
#
#   install         into $(DESTDIR)$(PREFIX)
#   install-strip   the same, without symbols and debug information
#   uninstall       removes those files again

PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
STRIP      ?= strip

# Newer than all sources if everything is built.
COMPLETE := $(BUILD)/complete
PARTS    := interface job kitten node packaging src tools xpmem
SOURCES   = $(shell find Cargo.toml Cargo.lock Makefile build.rs $(PARTS) -type f)
# Empty if so.
OUTDATED  = $(shell find $(SOURCES) -newer $(COMPLETE) 2>&1 | head -n 1)

INSTALL_COMMAND = VERSION='$(VERSION)' BUILD='$(BUILD)' DESTDIR='$(DESTDIR)' BINDIR='$(BINDIR)' \
    LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' DATADIR='$(DATADIR)' MANDIR='$(MANDIR)' \
    STRIP='$(STRIP)' packaging/install

.PHONY: install install-strip uninstall
install:
	@$(if $(OUTDATED),$(MAKE) --no-print-directory all)
	$(INSTALL_COMMAND) install
install-strip: install
	$(INSTALL_COMMAND) strip
uninstall:
	$(INSTALL_COMMAND) uninstall
