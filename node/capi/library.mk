# The on-node layer for other runtimes.
#
#   node        $(BUILD)/lib/libonenode.a and libonenode.so, onenode.h and the man page

# Rust's library keeps the program's arguments when it is loaded, which nothing here reads: without
# that there is no constructor.
onenode_WITHOUT := .init_array.00099

.PHONY: node node-compiled
node: $(BUILD)/lib/libonenode.a $(BUILD)/lib/libonenode.so $(BUILD)/include/onenode.h \
      $(BUILD)/share/man/man3/onenode.3

node-compiled: prerequisites
	$(CARGO_RELEASE) build --release --locked -p onenode-capi
$(RELEASE)/libonenode.a: node-compiled ;

$(OBJ)/onenode.exports: $(RELEASE)/libonenode.a
	mkdir -p $(@D)
	$(NM) --extern-only --defined-only $< 2> /dev/null | sed -n 's/^.* T \(onenode_.*\)$$/\1/p' > $@
$(OBJ)/onenode.map: node/capi/onenode.map
	mkdir -p $(@D)
	cp $< $@
$(BUILD)/include/onenode.h: node/include/onenode.h
	mkdir -p $(@D)
	cp $< $@
# Its example is a program that the tests run.
$(BUILD)/share/man/man3/onenode.3: packaging/man/onenode.3.in tests/node/two.c Cargo.toml
	mkdir -p $(@D) $(OBJ)
	sed 's/\\/\\e/g' tests/node/two.c > $(OBJ)/two
	sed -e 's/@VERSION@/$(VERSION)/g' -e '/@EXAMPLE@/{r $(OBJ)/two' -e 'd;}' $< > $@
