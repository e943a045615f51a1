# gqctl - inspect and steer; one file per command, one small static program
bin_PROGRAMS += bin/gqctl
bin_gqctl_SOURCES = %reldir%/gqctl.h %reldir%/main.c %reldir%/ctl.c %reldir%/table.c %reldir%/wait.c \
	%reldir%/cmd_jobs.c %reldir%/cmd_job.c %reldir%/cmd_gpus.c %reldir%/cmd_windows.c \
	%reldir%/cmd_reserve.c %reldir%/cmd_unreserve.c %reldir%/cmd_reservations.c \
	%reldir%/cmd_services.c %reldir%/cmd_evictions.c %reldir%/cmd_history.c \
	%reldir%/cmd_cancel.c %reldir%/cmd_hold.c %reldir%/cmd_release.c %reldir%/cmd_evict.c \
	%reldir%/cmd_resume.c %reldir%/cmd_wait.c %reldir%/cmd_doctor.c %reldir%/cmd_ping.c \
	%reldir%/cmd_shutdown.c
bin_gqctl_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%reldir%
bin_gqctl_LDFLAGS = $(client_ldflags)
bin_gqctl_LDADD = libclient.a libapi.a libbase.a -lm

man_MANS += gqctl/gqctl.1
EXTRA_DIST += gqctl/gqctl.1.in
CLEANFILES += gqctl/gqctl.1
gqctl/gqctl.1: gqctl/gqctl.1.in bin/gqctl$(EXEEXT)
	$(AM_V_GEN)$(call man_fill,bin/gqctl --help-man)
