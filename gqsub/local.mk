# gqsub - submit a job; one small static program
bin_PROGRAMS += bin/gqsub
bin_gqsub_SOURCES = %reldir%/main.c %reldir%/gqsub.h %reldir%/options.c %reldir%/script.c \
	%reldir%/capture.c %reldir%/watch.c
bin_gqsub_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%reldir%
bin_gqsub_LDFLAGS = $(client_ldflags)
bin_gqsub_LDADD = libjob.a libclient.a libbase.a -lm

man_MANS += gqsub/gqsub.1
EXTRA_DIST += gqsub/gqsub.1.in
CLEANFILES += gqsub/gqsub.1
gqsub/gqsub.1: gqsub/gqsub.1.in bin/gqsub$(EXEEXT)
	$(AM_V_GEN)$(call man_fill,bin/gqsub --help-man)
