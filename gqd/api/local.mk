# gqd/api - the server, one file per resource; and gqd/loop, which it shares with daemon.c
noinst_LIBRARIES += libloop.a
libloop_a_SOURCES = gqd/loop.h gqd/loop.c
libloop_a_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS)

UNIT_TESTS += tests/unit/test_loop
tests_unit_test_loop_SOURCES = tests/unit/test_loop.c
tests_unit_test_loop_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_loop_LDADD = libloop.a libbase.a $(CMOCKA_LIBS) $(EVENT_LIBS) -lm

noinst_LIBRARIES += libserver.a
libserver_a_SOURCES = \
	%reldir%/api.h %reldir%/server.c %reldir%/conn.h %reldir%/conn.c %reldir%/http.h %reldir%/http.c \
	%reldir%/request.h %reldir%/request.c %reldir%/body.c %reldir%/route.c %reldir%/names.c \
	%reldir%/jobs.c %reldir%/submit.c %reldir%/cards.c %reldir%/windows.c %reldir%/reservations.c \
	%reldir%/services.c %reldir%/evictions.c %reldir%/history.c %reldir%/admin.c
libserver_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)

UNIT_TESTS += tests/unit/test_api_server
tests_unit_test_api_server_SOURCES = tests/unit/test_api_server.c
tests_unit_test_api_server_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_api_server_LDADD = libserver.a libloop.a libcore.a libclient.a libapi.a libjob.a \
	libbase.a $(CMOCKA_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS) -lm

UNIT_TESTS += tests/fuzz/replay_http
tests_fuzz_replay_http_SOURCES = tests/fuzz/fuzz_http.c tests/fuzz/replay.c
tests_fuzz_replay_http_CPPFLAGS = $(AM_CPPFLAGS) -DGQ_CORPUS='"$(abs_top_srcdir)/tests/fuzz/corpus/http"'
tests_fuzz_replay_http_LDADD = libserver.a libbase.a
