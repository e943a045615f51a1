# tests/bench - measurements; `make bench`. They print tables and never fail on a time.
noinst_PROGRAMS += %reldir%/bench-empty %reldir%/bench-queue %reldir%/bench-sched
tests_bench_bench_empty_SOURCES = %reldir%/bench_empty.c
tests_bench_bench_empty_LDFLAGS = $(client_ldflags)
tests_bench_bench_queue_SOURCES = %reldir%/bench_queue.c %reldir%/bench_run.c \
	%reldir%/bench_api.c %reldir%/bench_evict.c %reldir%/bench_queue.h
tests_bench_bench_queue_LDADD = libclient.a libbase.a -lm
tests_bench_bench_queue_LDFLAGS = $(client_ldflags)
tests_bench_bench_sched_SOURCES = %reldir%/bench_sched.c
tests_bench_bench_sched_LDADD = libcore.a libbase.a
EXTRA_DIST += %reldir%/queue %reldir%/sched

noinst_PROGRAMS += %reldir%/bench-snapshot
tests_bench_bench_snapshot_SOURCES = %reldir%/bench_snapshot.c
tests_bench_bench_snapshot_LDADD = libcheckpoint.a libbase.a
EXTRA_DIST += %reldir%/snapshot
