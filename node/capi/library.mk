# The on-node layer for other runtimes.
#
#   node        $(BUILD)/lib/libonenode.a and libonenode.so, onenode.h and its overview page; `manuals` makes the others

.PHONY: node node-compiled
node: $(BUILD)/lib/libonenode.a $(BUILD)/lib/libonenode.so $(BUILD)/include/onenode.h \
      $(BUILD)/share/man/man7/onenode.7

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
$(BUILD)/share/man/man7/onenode.7: packaging/man/onenode.7.in tests/node/two.c Cargo.toml
	mkdir -p $(@D) $(OBJ)
	sed 's/\\/\\e/g' tests/node/two.c > $(OBJ)/two
	$(MAN_PAGE) -e '/@EXAMPLE@/{r $(OBJ)/two' -e 'd;}' $< > $@
