# The on-node layer for other runtimes.
#
#   node        $(BUILD)/lib/libonenode.a and libonenode.so, and onenode.h

.PHONY: node node-compiled
node: $(BUILD)/lib/libonenode.a $(BUILD)/lib/libonenode.so $(BUILD)/include/onenode.h

node-compiled: prerequisites
	$(call CARGO_C,onenode-capi)
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
