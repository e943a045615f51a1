# lib/job - what a user asks for: options, directives, checks, JSON, output patterns
# Who decodes JSON links $(JANSSON_LIBS) too; gqsub does not.
noinst_LIBRARIES += libjob.a
libjob_a_SOURCES = \
	%reldir%/job_spec.h %reldir%/job_spec.c %reldir%/types.h %reldir%/types.c \
	%reldir%/options.def %reldir%/option.h %reldir%/option.c %reldir%/directives.c \
	%reldir%/fields.def %reldir%/field.h %reldir%/json_encode.c %reldir%/decode.h \
	%reldir%/json_decode.c %reldir%/check.c %reldir%/path.c
libjob_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
