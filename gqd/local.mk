# gqd - the daemon
include gqd/core/local.mk
include gqd/store/local.mk
include gqd/exec/local.mk
include gqd/shim/local.mk
include gqd/gpu/local.mk
include gqd/api/local.mk

sbin_PROGRAMS += bin/gqd
bin_gqd_SOURCES = %reldir%/main.c %reldir%/daemon.h %reldir%/daemon.c %reldir%/open.c %reldir%/effect.c \
	%reldir%/launch.c %reldir%/report.c %reldir%/grades.c %reldir%/host.c %reldir%/settings.c %reldir%/findings.c
bin_gqd_LDADD = libserver.a libloop.a libexec.a libgpu.a libconf.a libstore.a libjob.a libapi.a \
	libcore.a libbase.a $(EVENT_LIBS) $(CONFIG_LIBS) $(SQLITE_LIBS) $(JANSSON_LIBS) -lm

man_MANS += gqd/gqd.8
EXTRA_DIST += gqd/gqd.8.in
CLEANFILES += gqd/gqd.8
gqd/gqd.8: gqd/gqd.8.in bin/gqd$(EXEEXT)
	$(AM_V_GEN)$(call man_fill,bin/gqd --help-man)

# The unit, with the directories that configure was told.
systemdsystemunit_DATA = gqd/gqd.service
CLEANFILES += gqd/gqd.service
gqd/gqd.service: gqd/gqd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) gqd && sed -e 's|[@]sbindir@|$(sbindir)|g' \
		-e 's|[@]confdir@|$(sysconfdir)/gq|g' -e 's|[@]statedir@|$(localstatedir)/lib/gq|g' \
		$(srcdir)/gqd/gqd.service.in >$@
