# lib/conf - configuration; the only user of <libconfig.h>
noinst_LIBRARIES += libconf.a
libconf_a_CPPFLAGS = $(AM_CPPFLAGS) $(CONFIG_CFLAGS)
libconf_a_SOURCES = %reldir%/conf.h %reldir%/conf.c %reldir%/conf_value.c %reldir%/print.c \
	%reldir%/option.h %reldir%/option.c %reldir%/options.def

# Run by the build; a cross build takes the two files it makes from a native one.
noinst_PROGRAMS += %reldir%/gen-conf
lib_conf_gen_conf_SOURCES = %reldir%/gen_conf.c
lib_conf_gen_conf_LDADD = libconf.a libbase.a $(CONFIG_LIBS) -lm

man_MANS += %reldir%/gq.conf.5
EXTRA_DIST += %reldir%/gq.conf.5.in
CLEANFILES += %reldir%/gq.conf.5 %reldir%/gq.conf.sample
%reldir%/gq.conf.5: %reldir%/gq.conf.5.in %reldir%/gen-conf$(EXEEXT)
	$(AM_V_GEN)$(call man_fill,lib/conf/gen-conf man)

confsampledir = $(sysconfdir)/gq
confsample_DATA = %reldir%/gq.conf.sample
%reldir%/gq.conf.sample: %reldir%/gen-conf$(EXEEXT)
	$(AM_V_GEN)./$< sample >$@.tmp && mv $@.tmp $@

UNIT_TESTS += tests/unit/test_conf tests/fuzz/replay_conf
tests_unit_test_conf_SOURCES = tests/unit/test_conf.c
tests_unit_test_conf_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_conf_LDADD = libconf.a libbase.a $(CMOCKA_LIBS) $(CONFIG_LIBS) -lm
tests_fuzz_replay_conf_SOURCES = tests/fuzz/fuzz_conf.c tests/fuzz/replay.c
tests_fuzz_replay_conf_CPPFLAGS = $(AM_CPPFLAGS) -DGQ_CORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/conf"'
tests_fuzz_replay_conf_LDADD = libconf.a libbase.a $(CONFIG_LIBS) -lm
