# tests - all under prove; each room's own fragment adds its unit tests to UNIT_TESTS
check_PROGRAMS += $(UNIT_TESTS) $(SIM_TESTS)
PROVE_FLAGS = --merge

.PHONY: check-unit
check-unit: $(UNIT_TESTS)
	@if test -n "$(UNIT_TESTS)"; then $(PROVE) $(PROVE_FLAGS) -e '' $(addprefix ./,$(UNIT_TESTS)); fi
.PHONY: check-sim
check-sim: $(SIM_TESTS)
	@if test -n "$(SIM_TESTS)"; then $(PROVE) $(PROVE_FLAGS) -e '' $(addprefix ./,$(SIM_TESTS)); fi
