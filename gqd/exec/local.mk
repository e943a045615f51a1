# gqd/exec - talks to shims
noinst_LIBRARIES += libexec.a
libexec_a_SOURCES = %reldir%/exec.h %reldir%/private.h %reldir%/exec.c %reldir%/layout.c \
	%reldir%/launch.c %reldir%/spawn.c %reldir%/spare.c %reldir%/pair.c %reldir%/adopt.c %reldir%/doctor.c

check_PROGRAMS += tests/lib/exec-driver
tests_lib_exec_driver_SOURCES = tests/lib/exec_driver.c
tests_lib_exec_driver_LDADD = libexec.a libbase.a
check_PROGRAMS += tests/lib/chain
tests_lib_chain_SOURCES = tests/lib/chain.c
check_PROGRAMS += tests/lib/kinds
tests_lib_kinds_SOURCES = tests/lib/kinds.h tests/lib/kinds.c tests/lib/kinds_ipc.c \
	tests/lib/kinds_process.c tests/lib/kinds_file.c tests/lib/kinds_foreign.c
tests_lib_kinds_LDADD = -lpthread -lrt
