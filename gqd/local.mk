# gqd - the daemon
include gqd/core/local.mk
include gqd/store/local.mk
include gqd/exec/local.mk
include gqd/shim/local.mk
include gqd/gpu/local.mk
include gqd/api/local.mk

# The unit, with the directories that configure was told.
systemdsystemunit_DATA = gqd/gqd.service
CLEANFILES += gqd/gqd.service
gqd/gqd.service: gqd/gqd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) gqd && sed -e 's|[@]sbindir@|$(sbindir)|g' \
		-e 's|[@]confdir@|$(sysconfdir)/gq|g' -e 's|[@]statedir@|$(localstatedir)/lib/gq|g' \
		$(srcdir)/gqd/gqd.service.in >$@
