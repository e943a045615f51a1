# gqd/core - decides; pure: no clock, no I/O
noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	%reldir%/rows.h %reldir%/event.h %reldir%/core.h %reldir%/core_priv.h \
	%reldir%/job_state.def %reldir%/reason.def \
	%reldir%/core.c %reldir%/names.c %reldir%/ptrs.c %reldir%/note.c %reldir%/queue.c \
	%reldir%/job.c %reldir%/fact.c %reldir%/window.c %reldir%/admit.c %reldir%/cost.c \
	%reldir%/evict.c %reldir%/service.c %reldir%/reserve.c %reldir%/card.c \
	%reldir%/explain.c %reldir%/check.c
