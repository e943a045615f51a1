# gqd/shim - the program gq-shim, one for each incarnation of a job
pkglibexec_PROGRAMS += bin/gq-shim
bin_gq_shim_SOURCES = %reldir%/main.c %reldir%/shim.h %reldir%/shim.c %reldir%/launch.h \
	%reldir%/launch.c %reldir%/capsule.h %reldir%/capsule.c %reldir%/start.h %reldir%/start.c \
	%reldir%/link.h %reldir%/link.c %reldir%/ending.h %reldir%/ending.c %reldir%/notice.h \
	%reldir%/notice.c %reldir%/grade.h %reldir%/grade.c
bin_gq_shim_LDADD = libcheckpoint.a libbase.a
bin_gq_shim_LDFLAGS = $(client_ldflags)
EXTRA_DIST += %reldir%/PROTOCOL.md

UNIT_TESTS += tests/unit/test_kv
tests_unit_test_kv_SOURCES = tests/unit/test_kv.c gqd/shim/launch.c
tests_unit_test_kv_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_kv_LDADD = libbase.a $(CMOCKA_LIBS)
