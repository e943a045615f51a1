# lib/client - the blocking client
noinst_LIBRARIES += libclient.a
libclient_a_SOURCES = %reldir%/client.h %reldir%/client.c %reldir%/field.h %reldir%/field.c

UNIT_TESTS += tests/unit/test_client
tests_unit_test_client_SOURCES = tests/unit/test_client.c
tests_unit_test_client_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_client_LDADD = libclient.a libbase.a $(CMOCKA_LIBS)
