# How a C library is made of what Cargo makes, for each NAME of which there are
#
#   $(RELEASE)/libNAME.a    Cargo's static library
#   $(OBJ)/NAME.exports     the symbols that stay global, one a line
#   $(OBJ)/NAME.map         the version script that names them
#
# Cargo's library carries all of Rust's runtime. What is linked out of it, one object in
# which only the exports are global, can stand in one program with other Rust libraries and
# serves both kinds of library: $(BUILD)/lib/libNAME.a and libNAME.so.

OBJ     := $(BUILD)/obj
OBJCOPY ?= objcopy
LD      ?= ld
NM      ?= nm

# Sections to leave out. What .llvmbc and .llvmcmd hold is for compilers, and misleads their linker
# plugin. The initialisers are Rust's: .init_array.00099 keeps the program's arguments, which nothing here
# reads; .init_array.90 looks for instructions of AArch64 that node/core/src/arch/ looks for itself. The
# linker removes them, because it also removes what debug information says of them. objcopy does not, and
# fails if there is such information, as in Debian's build of Rust's library.
#
# What is referenced only by sections that the linker drops stays undefined there, and no longer weak:
# objcopy drops it. It refuses an empty list, so that begins with a comment.
DISCARD := .llvmbc .llvmcmd .init_array.00099 .init_array.90

$(OBJ)/%.o: $(RELEASE)/lib%.a $(OBJ)/%.exports
	sed 's/^/--undefined=/' $(OBJ)/$*.exports > $(OBJ)/$*.roots
	echo 'SECTIONS { /DISCARD/ : { *($(DISCARD)) } } INSERT BEFORE .text;' > $(OBJ)/$*.discard
	$(LD) -r --gc-sections -T $(OBJ)/$*.discard @$(OBJ)/$*.roots -o $(OBJ)/$*.all.o $<
	echo '# undefined' > $(OBJ)/$*.undefined
	$(NM) --undefined-only --format=just-symbols $(OBJ)/$*.all.o >> $(OBJ)/$*.undefined
	$(OBJCOPY) --keep-global-symbols=$(OBJ)/$*.exports --strip-unneeded-symbols=$(OBJ)/$*.undefined \
	    $(OBJ)/$*.all.o $@
	rm -f $(OBJ)/$*.all.o

# Every static program would get a copy of the library's lines, most of its size and of the time to link it.
$(BUILD)/lib/lib%.a: $(OBJ)/%.o
	mkdir -p $(@D)
	rm -f $@
	$(AR) rcsD $@ $<
	$(OBJCOPY) --strip-debug --enable-deterministic-archives $@

$(BUILD)/lib/lib%.so.1: $(OBJ)/%.o $(OBJ)/%.map
	mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script=$(OBJ)/$*.map \
	    -Wl,-z,relro,-z,now -Wl,--no-undefined $(LDFLAGS) $< -Wl,--as-needed -lgcc_s -lpthread -ldl -lm -o $@
$(BUILD)/lib/lib%.so: $(BUILD)/lib/lib%.so.1
	ln -sf $(<F) $@

# Made by patterns, and wanted after: make is not to delete them.
.PRECIOUS: $(OBJ)/%.o $(OBJ)/%.exports $(OBJ)/%.map $(BUILD)/lib/lib%.so.1
