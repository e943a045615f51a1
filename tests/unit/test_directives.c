/* SPDX-License-Identifier: MIT
 * test_directives.c - #GQ and #SBATCH lines: where they end, quotes, comments, errors, precedence */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "job/job_spec.h"
#include "job/option.h"

#define NOW GQ_SEC(1796068800)

static int read_into(struct job_spec *s, const char *script, const bool *given, struct gq_err *err)
{
	job_spec_init(s);
	s->script = xstrdup(script);
	s->script_len = strlen(script);
	return job_spec_directives(s, "train.gq", given, NOW, err);
}

static void test_lines(void **state)
{
	struct job_spec s;

	(void)state;
	assert_int_equal(read_into(&s,
		"#!/bin/bash\n"
		"# a comment\n"
		"\n"
		"  \t\n"
		"#GQ --job-name=\"my job\" --vram 8G\t-H # the rest is a comment --vram=9G\n"
		"#SBATCH -t 10 --gres=gpu:a100:2\n"
		"#SBATCH\n"
		"#SBATCHED --nonsense\n"
		"##SBATCH --nonsense\n"
		"#GQ --output='a b'/\"%j\".log --comment=it\\'s\\ $HOME`x`\n"
		"  # an indented comment\n"
		"set -e\n"
		"#GQ --nonsense\n", NULL, NULL), 0);
	assert_string_equal(s.name, "my job");
	assert_int_equal(s.vram_mib, 8192);
	assert_true(s.hold);
	assert_true(s.time_limit == GQ_SEC(600));
	assert_int_equal(s.gpus, 2);
	assert_string_equal(s.gpu_type, "a100");
	assert_string_equal(s.output, "a b/%j.log");
	assert_string_equal(s.comment, "it's $HOME`x`");
	job_spec_clear(&s);
	assert_int_equal(read_into(&s, "#!/bin/sh\n#GQ --vram=1G", NULL, NULL), 0); /* no last newline */
	assert_int_equal(s.vram_mib, 1024);
	job_spec_clear(&s);
	assert_int_equal(read_into(&s, "", NULL, NULL), 0);
	job_spec_clear(&s);
}

static void test_errors(void **state)
{
	static const struct {
		const char *script, *text;
	} rows[] = {
		{"#!/bin/sh\n\n\n#GQ --vram=x\n",
			"train.gq: line 4: --vram: 'x' is not a size; write 24G, 512M or a number of MiB"},
		{"#GQ --frob\n", "train.gq: line 1: unknown option --frob: see --help"},
		{"#GQ -Z\n", "train.gq: line 1: unknown option -Z: see --help"},
		{"#GQ train.py\n", "train.gq: line 1: 'train.py' is not an option"},
		{"#GQ -J \"x\n", "train.gq: line 1: the quote \" is not closed"},
		{"#GQ --vram\n", "train.gq: line 1: option --vram needs a value: --vram=SIZE"},
		{"#GQ --hold=1\n", "train.gq: line 1: option --hold takes no value"},
		{"#SBATCH --nodes=3\n",
			"train.gq: line 1: --nodes: asked for 3, gq runs on one machine"},
		{"#SBATCH --array=1-3\n", "train.gq: line 1: unknown option --array: see --help"}};
	_cleanup_free_ char *long_line = xcalloc(1, JOB_LINE_MAX + 16);
	struct job_spec s;
	struct gq_err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(read_into(&s, rows[i].script, NULL, &err), -EINVAL);
		assert_string_equal(err.text, rows[i].text);
		job_spec_clear(&s);
	}
	memset(long_line, 'x', JOB_LINE_MAX + 8);
	memcpy(long_line, "#GQ ", 4);
	assert_int_equal(read_into(&s, long_line, NULL, &err), -EINVAL);
	assert_string_equal(err.text, "train.gq: line 1: is longer than 65536 bytes");
	job_spec_clear(&s);
	for (size_t i = 4; i < 4096; i++)
		long_line[i] = i % 2 ? 'x' : ' ';
	long_line[4096] = '\0';
	assert_int_equal(read_into(&s, long_line, NULL, &err), -EINVAL);
	assert_string_equal(err.text, "train.gq: line 1: more than 256 words");
	job_spec_clear(&s);
}

static void test_given(void **state)
{
	bool given[JOB_OPTION_N] = {false};
	struct job_spec s;
	struct gq_err err;

	(void)state;
	given[OPTION_GPUS] = given[OPTION_REQUEUE] = true;
	assert_int_equal(read_into(&s, "#GQ --gres=gpu:4 --no-requeue --vram=1G\n", given, NULL), 0);
	assert_int_equal(s.gpus, 1);
	assert_true(s.requeue);
	assert_int_equal(s.vram_mib, 1024);
	job_spec_clear(&s);
	/* a wrong value is an error also where the command line wins */
	assert_int_equal(read_into(&s, "#GQ --gpus=many\n", given, &err), -EINVAL);
	job_spec_clear(&s);
}

static int count(void *ctx, enum job_option o, const char *value, struct gq_err *err)
{
	(void)value, (void)err;
	if (job_option_kind(o) == OPTION_IS_COMMAND)
		++*(int *)ctx;
	return 0;
}

static void test_warnings(void **state)
{
	static const char script[] = "#!/bin/sh\n#SBATCH -p gpu --mem=8G\n#SBATCH --wait --export=NONE\n";
	_cleanup_buf_ struct buf warnings = BUF_INIT;
	int n = 0;

	(void)state;
	assert_int_equal(job_directives_read(script, strlen(script), "t", count, &n, &warnings, NULL), 0);
	assert_int_equal(n, 2);
	assert_string_equal(buf_c(&warnings),
		"t: line 2: --partition has no meaning here and is ignored\n"
		"t: line 2: --mem has no meaning here and is ignored\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_given), cmocka_unit_test(test_warnings)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
