# lib/job - what a user asks for: options, directives, checks, JSON, output patterns
# Who decodes JSON links $(JANSSON_LIBS) too; gqsub does not.
noinst_LIBRARIES += libjob.a
libjob_a_SOURCES = \
	%reldir%/job_spec.h %reldir%/job_spec.c %reldir%/types.h %reldir%/types.c \
	%reldir%/types_word.c %reldir%/types_json.c \
	%reldir%/options.def %reldir%/option.h %reldir%/option.c %reldir%/directives.c \
	%reldir%/fields.def %reldir%/field.h %reldir%/json_encode.c \
	%reldir%/json_decode.c %reldir%/check.c %reldir%/path.c
libjob_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)

job_tests = tests/unit/test_job_spec tests/unit/test_directives tests/unit/test_job_json \
	tests/unit/test_job_path
job_test_libs = libjob.a libbase.a $(CMOCKA_LIBS) $(JANSSON_LIBS) -lm
UNIT_TESTS += $(job_tests)
tests_unit_test_job_spec_SOURCES = tests/unit/test_job_spec.c
tests_unit_test_job_spec_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_job_spec_LDADD = $(job_test_libs)
tests_unit_test_directives_SOURCES = tests/unit/test_directives.c
tests_unit_test_directives_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_directives_LDADD = $(job_test_libs)
tests_unit_test_job_json_SOURCES = tests/unit/test_job_json.c
tests_unit_test_job_json_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_job_json_LDADD = $(job_test_libs)
tests_unit_test_job_path_SOURCES = tests/unit/test_job_path.c
tests_unit_test_job_path_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_job_path_LDADD = $(job_test_libs)

# The fuzz entries of this room, run over their corpus in make check.
UNIT_TESTS += tests/fuzz/replay_spec tests/fuzz/replay_json
tests_fuzz_replay_spec_SOURCES = tests/fuzz/fuzz_spec.c tests/fuzz/replay.c
tests_fuzz_replay_spec_CPPFLAGS = $(AM_CPPFLAGS) -DGQ_CORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/spec"'
tests_fuzz_replay_spec_LDADD = libjob.a libbase.a -lm
tests_fuzz_replay_json_SOURCES = tests/fuzz/fuzz_json.c tests/fuzz/replay.c
tests_fuzz_replay_json_CPPFLAGS = $(AM_CPPFLAGS) -DGQ_CORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/json"'
tests_fuzz_replay_json_LDADD = libjob.a libclient.a libbase.a $(JANSSON_LIBS) -lm
