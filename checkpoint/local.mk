# checkpoint - the snapshot engine; runs inside gq-shim
noinst_LIBRARIES += libcheckpoint.a
libcheckpoint_a_SOURCES = %reldir%/engine.h %reldir%/engine.c %reldir%/criu.h %reldir%/criu.c \
	%reldir%/image.h %reldir%/image.c %reldir%/gate.h %reldir%/gate.c %reldir%/sum.h \
	%reldir%/sum.c %reldir%/preflight.h %reldir%/preflight.c %reldir%/sockets.h \
	%reldir%/sockets.c %reldir%/stats.h %reldir%/stats.c %reldir%/shm.h \
	%reldir%/shm.c
EXTRA_DIST += %reldir%/FORMAT.md

UNIT_TESTS += tests/unit/test_checkpoint_image
tests_unit_test_checkpoint_image_SOURCES = tests/unit/test_checkpoint_image.c
tests_unit_test_checkpoint_image_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_checkpoint_image_LDADD = libcheckpoint.a libbase.a $(CMOCKA_LIBS)
