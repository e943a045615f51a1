# lib/api - the messages: tables, encoder, decoder, their description
noinst_LIBRARIES += libapi.a
libapi_a_SOURCES = \
	%reldir%/message.h %reldir%/objects.c %reldir%/encode.c %reldir%/decode.c \
	%reldir%/json.h %reldir%/json_write.c %reldir%/json_read.c \
	%reldir%/routes.def %reldir%/manual.c

UNIT_TESTS += tests/unit/test_api_message
tests_unit_test_api_message_SOURCES = tests/unit/test_api_message.c
tests_unit_test_api_message_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_api_message_LDADD = libapi.a libbase.a $(CMOCKA_LIBS) $(JANSSON_LIBS) -lm

# API.md, the protocol for people; gqd serves the same for programs at /v1/openapi.json.
noinst_PROGRAMS += lib/api/print-manual
lib_api_print_manual_SOURCES = %reldir%/print_manual.c
lib_api_print_manual_LDADD = libapi.a libbase.a -lm
doc_DATA = API.md
CLEANFILES += API.md
API.md: lib/api/print-manual$(EXEEXT)
	$(AM_V_GEN)lib/api/print-manual$(EXEEXT) >$@.tmp && mv $@.tmp $@

UNIT_TESTS += tests/fuzz/replay_answer
tests_fuzz_replay_answer_SOURCES = tests/fuzz/fuzz_answer.c tests/fuzz/replay.c
tests_fuzz_replay_answer_CPPFLAGS = $(AM_CPPFLAGS) -DGQ_CORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/answer"'
tests_fuzz_replay_answer_LDADD = libapi.a libbase.a -lm
