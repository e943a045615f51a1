# checkpoint - the snapshot engine; runs inside gq-shim
noinst_LIBRARIES += libcheckpoint.a
libcheckpoint_a_SOURCES = %reldir%/engine.h %reldir%/engine.c %reldir%/criu.h %reldir%/criu.c \
	%reldir%/image.h %reldir%/image.c %reldir%/gate.h %reldir%/gate.c %reldir%/sum.h \
	%reldir%/sum.c %reldir%/preflight.h %reldir%/preflight.c %reldir%/sockets.h \
	%reldir%/sockets.c %reldir%/stats.h %reldir%/stats.c %reldir%/shm.h \
	%reldir%/shm.c %reldir%/gqi.h %reldir%/gqi_layout.h %reldir%/gqi.c %reldir%/raw.h %reldir%/raw.c \
	%reldir%/stream.h %reldir%/stream.c %reldir%/wire.h %reldir%/wire.c %reldir%/facts.h \
	%reldir%/facts.c %reldir%/settle.h %reldir%/settle.c %reldir%/timerfd.h \
	%reldir%/timerfd.c %reldir%/findings.h %reldir%/findings.c %reldir%/descriptor.h \
	%reldir%/descriptor.c

# What needs zstd and threads; never in gq-shim
noinst_LIBRARIES += libstream.a
libstream_a_SOURCES = %reldir%/arena.h %reldir%/arena.c %reldir%/frame.h %reldir%/frame.c \
	%reldir%/outfile.h %reldir%/outfile.c %reldir%/gqi_write.h %reldir%/gqi_write.c \
	%reldir%/squeeze.h %reldir%/squeeze.c %reldir%/fetch.h %reldir%/fetch.c \
	%reldir%/capture.h %reldir%/capture.c %reldir%/serve.h %reldir%/serve.c \
	%reldir%/unpack.h %reldir%/unpack.c
libstream_a_CPPFLAGS = $(AM_CPPFLAGS) $(ZSTD_CFLAGS)
stream_libs = libstream.a libcheckpoint.a libbase.a $(ZSTD_LIBS) -lpthread

pkglibexec_PROGRAMS += bin/gq-streamer
bin_gq_streamer_SOURCES = %reldir%/streamer.c
bin_gq_streamer_LDADD = $(stream_libs) -lm
bin_gq_streamer_LDFLAGS = $(client_ldflags)
EXTRA_DIST += %reldir%/FORMAT.md

UNIT_TESTS += tests/unit/test_checkpoint_image
tests_unit_test_checkpoint_image_SOURCES = tests/unit/test_checkpoint_image.c
tests_unit_test_checkpoint_image_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_checkpoint_image_LDADD = $(stream_libs) $(CMOCKA_LIBS) -lm
# Preloaded into criu (which knows no sanitizers); beside gq-shim, which names it
pkglibexec_PROGRAMS += bin/gq_thp.so
bin_gq_thp_so_SOURCES = %reldir%/thp.c
bin_gq_thp_so_CFLAGS = $(AM_CFLAGS) -fPIC -fno-sanitize=all
bin_gq_thp_so_LINK = $(CC) $(bin_gq_thp_so_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) -shared \
	-fno-sanitize=all -o $@

bin_PROGRAMS += bin/gq-image
bin_gq_image_SOURCES = %reldir%/tool/tool.h %reldir%/tool/tool.c %reldir%/tool/subject.c \
	%reldir%/tool/ls.c %reldir%/tool/info.c %reldir%/tool/verify.c %reldir%/tool/extract.c \
	%reldir%/tool/pack.c
bin_gq_image_LDADD = $(stream_libs) -lm

man_MANS += checkpoint/gq-image.1
EXTRA_DIST += checkpoint/gq-image.1.in
CLEANFILES += checkpoint/gq-image.1
checkpoint/gq-image.1: checkpoint/gq-image.1.in bin/gq-image$(EXEEXT)
	$(AM_V_GEN)$(call man_fill,bin/gq-image --help-man)

UNIT_TESTS += tests/unit/test_gqi tests/unit/test_stream
tests_unit_test_gqi_SOURCES = tests/unit/test_gqi.c
tests_unit_test_gqi_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_gqi_LDADD = $(stream_libs) $(CMOCKA_LIBS) -lm
tests_unit_test_stream_SOURCES = tests/unit/test_stream.c
tests_unit_test_stream_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_stream_LDADD = libcheckpoint.a libbase.a $(CMOCKA_LIBS) -lm
EXTRA_tests_unit_test_stream_DEPENDENCIES = bin/gq-streamer$(EXEEXT)
