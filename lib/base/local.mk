# lib/base - what every room stands on; uses libc only
noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	%reldir%/err.h %reldir%/err.c %reldir%/cleanup.h %reldir%/mem.h %reldir%/mem.c \
	%reldir%/log.h %reldir%/log.c %reldir%/buf.h %reldir%/buf.c %reldir%/map.h %reldir%/map.c \
	%reldir%/parse.h %reldir%/parse.c %reldir%/file.h %reldir%/file.c \
	%reldir%/fault.h %reldir%/fault.def %reldir%/fault.c %reldir%/gqtime.h %reldir%/gqtime.c \
	%reldir%/signame.h %reldir%/signame.c %reldir%/banned.h \
	%reldir%/usage.h %reldir%/usage.c %reldir%/utf8.h %reldir%/utf8.c \
	%reldir%/kv.h %reldir%/kv.c %reldir%/spawn.h %reldir%/spawn.c

UNIT_TESTS += tests/unit/test_base
tests_unit_test_base_SOURCES = tests/unit/test_base.c
tests_unit_test_base_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_base_LDADD = libbase.a $(CMOCKA_LIBS) -lm

# Manual pages: gqsub/gqsub.1 from gqsub.1.in, where the line @OPTIONS@ becomes what
# `PROGRAM --help-man` prints and @VERSION@ the version. In a fragment:
#     man_MANS += gqsub/gqsub.1
#     EXTRA_DIST += gqsub/gqsub.1.in
#     CLEANFILES += gqsub/gqsub.1
#     gqsub/gqsub.1: gqsub/gqsub.1.in bin/gqsub$(EXEEXT)
#             $(AM_V_GEN)$(call man_fill,bin/gqsub --help-man)
man_fill = $(MKDIR_P) $(@D) && ./$(1) >$@.options && \
	sed -e '/^@OPTIONS@$$/{' -e 'r $@.options' -e 'd' -e '}' -e 's|[@]VERSION@|$(VERSION)|' \
	$(filter %.in,$^) >$@.tmp && mv $@.tmp $@ && rm -f $@.options
$(man_MANS): $(top_srcdir)/lib/base/local.mk
