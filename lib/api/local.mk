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
