# gqd/store - remembers: rows and the audit trail in one SQLite file
noinst_LIBRARIES += libstore.a
libstore_a_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
libstore_a_SOURCES = \
	%reldir%/store.h %reldir%/sqlite.h %reldir%/sqlite.c %reldir%/sqlite_read.c \
	%reldir%/sqlite_prune.c %reldir%/schema.h %reldir%/schema.c \
	%reldir%/rows_sql.h %reldir%/rows_sql.c %reldir%/sql_names.h %reldir%/sql_names.c
nodist_libstore_a_SOURCES = %reldir%/schema_sql.h

store_migrations = $(wildcard $(top_srcdir)/%reldir%/migrations/[0-9]*.sql)
%reldir%/schema_sql.h: %reldir%/embed.awk %reldir%/schema.sql $(store_migrations)
	$(AM_V_GEN)$(MKDIR_P) %reldir% && LC_ALL=C $(AWK) -f $(top_srcdir)/%reldir%/embed.awk \
		$(top_srcdir)/%reldir%/schema.sql $(store_migrations) >$@.tmp && mv $@.tmp $@
%reldir%/libstore_a-schema.$(OBJEXT): %reldir%/schema_sql.h
CLEANFILES += %reldir%/schema_sql.h
EXTRA_DIST += %reldir%/embed.awk %reldir%/schema.sql %reldir%/SCHEMA.md %reldir%/migrations

UNIT_TESTS += tests/unit/test_store tests/unit/test_store_crash
store_test_cppflags = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS) $(SQLITE_CFLAGS) \
	-DGQ_FIXTURES='"$(abs_top_srcdir)/tests/fixtures"'
store_test_libs = libstore.a libcore.a libbase.a $(CMOCKA_LIBS) $(SQLITE_LIBS) -lm
tests_unit_test_store_SOURCES = tests/unit/test_store.c tests/unit/store_rows.h
tests_unit_test_store_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_LDADD = $(store_test_libs)
tests_unit_test_store_crash_SOURCES = tests/unit/test_store_crash.c tests/unit/store_rows.h
tests_unit_test_store_crash_CPPFLAGS = $(store_test_cppflags)
tests_unit_test_store_crash_LDADD = $(store_test_libs)
