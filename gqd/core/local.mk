# gqd/core - decides; pure: no clock, no I/O
noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = %reldir%/names.c %reldir%/rows.h %reldir%/event.h %reldir%/core.h \
	%reldir%/job_state.def %reldir%/reason.def
