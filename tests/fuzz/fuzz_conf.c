/* SPDX-License-Identifier: MIT
 * fuzz_conf.c - gq.conf from anybody: an error with one line, or a struct that prints and reads back
 * fuzz: lib/conf/conf.c lib/conf/conf_value.c lib/conf/print.c lib/base/buf.c lib/base/err.c
 * fuzz: lib/base/file.c lib/base/mem.c lib/base/parse.c lib/base/utf8.c lib/base/fault.c lib/base/gqtime.c -lconfig -lm
 */
#ifndef GQ_CRIU /* the fuzzer's compiler line does not say */
#define GQ_CRIU     "criu"
#define GQ_STATEDIR "/var/lib/gq"
#define GQ_RUNDIR   "/run/gq"
#endif
#include "conf/option.c"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* The library forgets a text that the end of the file cut off; gqd reads its file seldom. */
const char *__lsan_default_suppressions(void)
{
	return "leak:libconfig.so";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	_cleanup_buf_ struct buf one = BUF_INIT, two = BUF_INIT;
	struct gq_err err = {0};
	struct gq_conf c, back;

	if (conf_load_string("fuzz", text, &c, &err)) {
		assert(err.code && err.text[0]);
		return 0;
	}
	conf_print(&c, &one);
	assert(conf_load_string("fuzz", buf_c(&one), &back, &err) == 0);
	conf_print(&back, &two);
	assert(!strcmp(buf_c(&one), buf_c(&two)));
	conf_clear(&c);
	conf_clear(&back);
	return 0;
}
