# tests - all speak TAP; each room's own fragment adds its unit tests to UNIT_TESTS
check_PROGRAMS += $(UNIT_TESTS) $(SIM_TESTS)
E2E_TESTS  = $(sort $(wildcard $(top_srcdir)/tests/e2e/*.t))
LINT_TESTS = $(sort $(wildcard $(top_srcdir)/tests/lint/*.t))
RUN_TESTS  = $(top_srcdir)/tests/lib/run-tests --build .

.PHONY: check-programs list-tests list-unit list-installed check-unit check-sim check-e2e lint check-asan check-valgrind \
	fuzz bench format coverage
check-programs: $(check_PROGRAMS)
list-tests:
	@echo $(UNIT_TESTS) $(SIM_TESTS) $(LINT_TESTS:$(top_srcdir)/%=%) $(E2E_TESTS:$(top_srcdir)/%=%)

list-unit:
	@echo $(UNIT_TESTS) $(SIM_TESTS)

list-installed:
	@echo $(notdir $(bin_PROGRAMS) $(sbin_PROGRAMS) $(pkglibexec_PROGRAMS))

check-local:
	$(AM_V_at)$(RUN_TESTS) $(UNIT_TESTS) $(SIM_TESTS) $(LINT_TESTS) $(E2E_TESTS)
check-unit: $(UNIT_TESTS)
	$(AM_V_at)$(RUN_TESTS) $(UNIT_TESTS)
# SEEDS=1-1000 or SEEDS=42: which random worlds to try; the default is the program's own
check-sim: $(SIM_TESTS)
	$(AM_V_at)$(if $(SEEDS),GQ_SEEDS='$(SEEDS)') $(RUN_TESTS) --timeout 3600 $(SIM_TESTS)
check-e2e: all check-programs
	$(AM_V_at)$(RUN_TESTS) $(E2E_TESTS)
lint: all
	$(AM_V_at)$(RUN_TESTS) $(LINT_TESTS)

# The same tests in a build directory of their own, with the compiler's checks for memory errors.
check-asan:
	$(AM_V_at)mkdir -p asan
	$(AM_V_at)test -f asan/Makefile || (cd asan && $(abs_top_srcdir)/configure -q --enable-debug \
		--enable-sanitize --with-criu='$(CRIU_PROGRAM)')
	$(AM_V_at)$(MAKE) -C asan all check-programs
	$(AM_V_at)cd asan && $(MAKE) check-unit check-sim
check-valgrind: $(UNIT_TESTS)
	$(AM_V_at)$(RUN_TESTS) --under 'valgrind -q --error-exitcode=99 --leak-check=full' $(UNIT_TESTS)

# FUZZ=fuzz_spec TIME=60: one parser, so many seconds
TIME = 60
fuzz:
	$(AM_V_at)sh $(top_srcdir)/tests/fuzz/run.sh '$(FUZZ)' '$(TIME)'
bench: all
	$(AM_V_at)for b in $(top_srcdir)/tests/bench/*; do \
		test ! -x "$$b" || test -d "$$b" || GQ_BUILD=$(abs_builddir) "$$b" || exit 1; done

format:
	$(AM_V_at)cd $(top_srcdir) && git ls-files '*.[ch]' | xargs clang-format -i
coverage:
	$(AM_V_at)mkdir -p coverage
	$(AM_V_at)test -f coverage/Makefile || (cd coverage && $(abs_top_srcdir)/configure -q \
		--enable-debug --disable-static-clients CFLAGS='-O0 -g --coverage')
	$(AM_V_at)$(MAKE) -C coverage all check-programs
	$(AM_V_at)cd coverage && $(MAKE) check-unit check-sim check-e2e || true
	$(AM_V_at)cd coverage && find . -name '*.gcno' | xargs gcov -n 2>/dev/null | \
		perl $(abs_top_srcdir)/tests/lib/coverage '$(abs_top_srcdir)'
