# gqd/core - decides; pure: no clock, no I/O
noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	%reldir%/rows.h %reldir%/event.h %reldir%/core.h %reldir%/core_priv.h \
	%reldir%/job_state.def %reldir%/reason.def \
	%reldir%/core.c %reldir%/names.c %reldir%/ptrs.c %reldir%/note.c %reldir%/queue.c \
	%reldir%/job.c %reldir%/fact.c %reldir%/window.c %reldir%/admit.c %reldir%/fill.c %reldir%/cost.c \
	%reldir%/evict.c %reldir%/service.c %reldir%/reserve.c %reldir%/card.c \
	%reldir%/explain.c %reldir%/check.c

# Tests of the core: a world of cards and a clock (tests/lib/core_world.[ch]) and one program per matter.
check_LIBRARIES += tests/lib/libcoreworld.a
tests_lib_libcoreworld_a_SOURCES = tests/lib/core_world.h tests/lib/core_world.c
core_test_cppflags = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
core_test_ldadd = tests/lib/libcoreworld.a libcore.a libbase.a $(CMOCKA_LIBS) -lm
UNIT_TESTS += tests/unit/test_job_states \
	tests/unit/test_core_window \
	tests/unit/test_core_admit \
	tests/unit/test_core_evict \
	tests/unit/test_core_sudden \
	tests/unit/test_core_life \
	tests/unit/test_core_reserve
tests_unit_test_job_states_SOURCES = tests/unit/test_job_states.c
tests_unit_test_job_states_CPPFLAGS = $(core_test_cppflags)
tests_unit_test_job_states_LDADD = $(core_test_ldadd)
tests_unit_test_core_window_SOURCES = tests/unit/test_core_window.c
tests_unit_test_core_window_CPPFLAGS = $(core_test_cppflags)
tests_unit_test_core_window_LDADD = $(core_test_ldadd)
tests_unit_test_core_admit_SOURCES = tests/unit/test_core_admit.c
tests_unit_test_core_admit_CPPFLAGS = $(core_test_cppflags)
tests_unit_test_core_admit_LDADD = $(core_test_ldadd)
tests_unit_test_core_evict_SOURCES = tests/unit/test_core_evict.c
tests_unit_test_core_evict_CPPFLAGS = $(core_test_cppflags)
tests_unit_test_core_evict_LDADD = $(core_test_ldadd)
tests_unit_test_core_sudden_SOURCES = tests/unit/test_core_sudden.c
tests_unit_test_core_sudden_CPPFLAGS = $(core_test_cppflags)
tests_unit_test_core_sudden_LDADD = $(core_test_ldadd)
tests_unit_test_core_life_SOURCES = tests/unit/test_core_life.c
tests_unit_test_core_life_CPPFLAGS = $(core_test_cppflags)
tests_unit_test_core_life_LDADD = $(core_test_ldadd)
tests_unit_test_core_reserve_SOURCES = tests/unit/test_core_reserve.c
tests_unit_test_core_reserve_CPPFLAGS = $(core_test_cppflags)
tests_unit_test_core_reserve_LDADD = $(core_test_ldadd)

# Random worlds in virtual time: make check-sim SEEDS=1-1000
SIM_TESTS += tests/sim/test_sim_random
tests_sim_test_sim_random_SOURCES = tests/sim/test_sim_random.c tests/sim/wishes.c \
	tests/sim/world.h tests/sim/world.c tests/sim/world_exec.c tests/sim/world_store.c \
	tests/sim/world_check.c
tests_sim_test_sim_random_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/sim
tests_sim_test_sim_random_LDADD = libcore.a libbase.a
