/* SPDX-License-Identifier: MIT
 * test_conf.c - defaults, files, one clear line for each mistake, reload, printing and reading back */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "conf/conf.h"

static void load_ok(const char *text, struct gq_conf *ret)
{
	struct gq_err err = {0};

	if (conf_load_string("t.conf", text, ret, &err))
		fail_msg("%s", err.text);
}

static void test_defaults(void **state)
{
	struct gq_conf c;

	(void)state;
	conf_default(&c);
	assert_true(c.unified && c.online_priority && c.offline_fill);
	assert_true(c.offline_max_vram_ratio == 0.4);
	assert_int_equal(c.reserve_vram, CONF_RESERVE_ALWAYS);
	assert_int_equal(c.graceful_exit, GQ_SEC(30));
	assert_int_equal(c.min_window, GQ_SEC(300));
	assert_int_equal(c.margin, GQ_MSEC(200));
	assert_int_equal(c.log_level, LOG_LEVEL_INFO);
	assert_null(c.state_dir);
	assert_null(c.image_dir);
	assert_int_equal(c.keep_history, GQ_SEC(90 * 86400));
	conf_clear(&c);
	conf_clear(&c); /* harmless */
}

static void test_values(void **state)
{
	struct gq_conf c;

	(void)state;
	load_ok("pool: { unified = false; offline_fill = false; }\n"
		"quota = { offline_max_vram_ratio = 0.25; online_reserve_vram = \"busy\"; };\n"
		"preempt: { level = \"priority\"; graceful_exit_sec = 45; kill_wait = \"1m30s\"; }\n"
		"min_fill_granularity = \"large\";\n"
		"monitor: { online_p99_latency_alert = 0.2; idle_percent = 7; }\n"
		"checkpoint: { dir = \"/srv/images\"; dump_timeout = 900L; }\n"
		"limits: { max_jobs = 5; keep_history = \"never\"; }\n"
		"operator_group = \"ml\\\"ops\"; log: { level = \"debug\"; }\n"
		"services: { chat: { cards = [\"0\", \"GPU-1\"]; reserve_vram = \"30G\"; lease = \"30s\";\n"
		"  notice = 10; state = \"busy\"; user = \"infer\"; }; embed: { cards = ( 1 ); } }\n"
		"cards: ( { card = \"0\"; labels = [\"a100\", \"nvlink\"]; }, { card = 1; } );\n", &c);
	assert_false(c.unified || c.offline_fill);
	assert_true(c.online_priority);
	assert_true(c.offline_max_vram_ratio == 0.25);
	assert_int_equal(c.reserve_vram, CONF_RESERVE_BUSY);
	assert_int_equal(c.graceful_exit, GQ_SEC(45));
	assert_int_equal(c.kill_wait, GQ_SEC(90));
	assert_int_equal(c.min_window, GQ_SEC(900));
	assert_int_equal(c.online_p99_latency_alert, GQ_MSEC(200));
	assert_string_equal(c.image_dir, "/srv/images");
	assert_int_equal(c.dump_timeout, GQ_SEC(900));
	assert_int_equal(c.max_jobs, 5);
	assert_int_equal(c.keep_history, GQ_NEVER);
	assert_string_equal(c.operator_group, "ml\"ops");
	assert_int_equal(c.n_services, 2);
	assert_string_equal(c.services[0].name, "chat");
	assert_null(c.services[0].cards[2]);
	assert_true(c.services[0].busy);
	assert_string_equal(c.services[0].user, "infer");
	assert_string_equal(c.services[0].cards[1], "GPU-1");
	assert_int_equal(c.services[0].reserve_mib, 30720);
	assert_int_equal(c.services[0].lease, GQ_SEC(30));
	assert_int_equal(c.services[0].notice, GQ_SEC(10));
	assert_string_equal(c.services[1].cards[0], "1");
	assert_int_equal(c.n_cards, 2);
	assert_string_equal(c.cards[0].labels, "a100,nvlink");
	assert_string_equal(c.cards[1].card, "1");
	conf_clear(&c);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
		{"pool: {\n offlin_fill = true; }",
			"t.conf:2: unknown option pool.offlin_fill; did you mean pool.offline_fill?"},
		{"graceful_exit_sec = 3;",
			"t.conf:1: unknown option graceful_exit_sec; did you mean preempt.graceful_exit_sec?"},
		{"\n\nfrobnicate = 1;",
			"t.conf:3: unknown option frobnicate; gq.conf(5) lists them all"},
		{"pool: { unified: { x = 1; } }",
			"t.conf:1: pool.unified: is a group { }; write true or false"},
		{"pool = 7;", "t.conf:1: pool: is a number; write a group { }"},
		{"pool: { unified = \"maybe\"; }",
			"t.conf:1: pool.unified: is a text; write true or false"},
		{"quota: { offline_max_vram_ratio = 1.5; }",
			"t.conf:1: quota.offline_max_vram_ratio: '1.5' is not allowed; allowed: 0.001 to 1.0"},
		{"quota: { offline_max_vram_ratio = -0.1; }",
			"t.conf:1: quota.offline_max_vram_ratio: '-0.1' is not allowed; allowed: 0.001 to 1.0"},
		{"quota: { offline_max_vram_ratio = \"40%\"; }",
			"t.conf:1: quota.offline_max_vram_ratio: is a text; write a number: 0.001 to 1.0"},
		{"quota: { online_reserve_vram = \"Always\"; }",
			"t.conf:1: quota.online_reserve_vram: 'Always' is not allowed; allowed: always, busy, "
			"never"},
		{"preempt: { graceful_exit_sec = \"2 days\"; }",
			"t.conf:1: preempt.graceful_exit_sec: '2 days' is not allowed; allowed: 0s to 1d"},
		{"preempt: { graceful_exit_sec = -1; }",
			"t.conf:1: preempt.graceful_exit_sec: '-1' is not allowed; allowed: 0s to 1d"},
		{"preempt: { graceful_exit_sec = 1e300; }",
			"t.conf:1: preempt.graceful_exit_sec: '1e+300' is not allowed; allowed: 0s to 1d"},
		{"min_fill_granularity = \"huge\";",
			"t.conf:1: min_fill_granularity: 'huge' is not allowed; allowed: small, medium, large, "
			"or 1s to 7d"},
		{"limits: { max_jobs = 9999999999L; }",
			"t.conf:1: limits.max_jobs: '9999999999' is not allowed; allowed: 1 to 10000000"},
		{"limits: { max_jobs = 1.5; }",
			"t.conf:1: limits.max_jobs: is a number; write a whole number: 1 to 10000000"},
		{"state_dir = \"var/gq\";",
			"t.conf:1: state_dir: 'var/gq' is not allowed; allowed: an absolute path"},
		{"operator_group = \"a\\nb\";",
			"t.conf:1: operator_group: 'a?b' is not allowed; allowed: a text"},
		{"services = [1];",
			"t.conf:1: services: is an array [ ]; write a group of services: { NAME: { … } }"},
		{"services: { chat: { cards = \"0\"; } }",
			"t.conf:1: services.chat.cards: is a text; write an array of cards, as [\"0\", \"1\"]"},
		{"services: { chat: { cards = [\"\"]; } }",
			"t.conf:1: services.chat.cards[0]: '' is no card"},
		{"services: { chat: { cards = [\"0\"]; leese = 3; } }",
			"t.conf:1: unknown option services.chat.leese; gq.conf(5) lists them all"},
		{"services: { chat: { cards = [\"0\"]; reserve_vram = \"lots\"; } }",
			"t.conf:1: services.chat.reserve_vram: 'lots' is not allowed; allowed: 0M to 1024G"},
		{"cards: ( { labels = [\"a\"]; } );",
			"t.conf:1: cards[0]: says not which card; write card = \"0\" (index or UUID)"},
		{"cards: ( { card = \"0\"; },\n { card = 0; } );",
			"t.conf:2: cards[1]: card '0' was described before"},
		{"cards: ( { card = \"0\"; labels = [\"a b\"]; } );",
			"t.conf:1: cards[0].labels: a label is a word without blanks and commas, as \"a100\""},
		{"pool: {\n unified = true\n offline_fill == 3", "t.conf:3: syntax error"},
		{"pool: { unified = true; unified = false; }", "t.conf:1: duplicate setting name"},
		{"@include \"/etc/passwd\"", "t.conf: @include is understood in files alone"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct gq_conf c = {0};
		struct gq_err err = {0};

		assert_int_equal(conf_load_string("t.conf", rows[i].text, &c, &err), -EINVAL);
		assert_string_equal(err.text, rows[i].line);
		assert_int_equal(c.min_window, 0); /* untouched */
		assert_int_equal(conf_load_string("t.conf", rows[i].text, &c, NULL), -EINVAL);
	}
}

static void test_deep(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct gq_err err = {0};
	struct gq_conf c;

	(void)state;
	for (int i = 0; i < 3000; i++)
		buf_str(&b, "a:{");
	for (int i = 0; i < 3000; i++)
		buf_str(&b, "};");
	assert_int_equal(conf_load_string("t.conf", buf_c(&b), &c, &err), -EINVAL);
}

static void test_files(void **state)
{
	char dir[] = "/tmp/gq-conf-XXXXXX";
	_cleanup_free_ char *a = NULL, *b = NULL;
	struct gq_err err = {0};
	struct gq_conf c;

	(void)state;
	assert_non_null(mkdtemp(dir));
	a = xasprintf("%s/gq.conf", dir);
	b = xasprintf("%s/more.conf", dir);
	assert_int_equal(conf_load(a, &c, &err), -ENOENT);
	assert_int_equal(file_write_fast(a, "\n@include \"more.conf\"\n", 22, 0600, &err), 0);
	assert_int_equal(file_write_fast(b, "\nlog: { level = \"warning\"; }\n", 29, 0600, &err), 0);
	if (conf_load(a, &c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(c.log_level, LOG_LEVEL_WARN);
	conf_clear(&c);
	assert_int_equal(file_write_fast(b, "\nlog: { level = \"loud\"; }\n", 26, 0600, &err), 0);
	assert_int_equal(conf_load(a, &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more.conf:2: log.level: 'loud' is not allowed"));
	assert_int_equal(file_write_fast(a, "a\0b", 3, 0600, &err), 0);
	assert_int_equal(conf_load(a, &c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "gq.conf: is no text file"));
	dir_remove(dir);
}

static void test_set(void **state)
{
	struct gq_err err = {0};
	struct gq_conf c;

	(void)state;
	conf_default(&c);
	assert_int_equal(conf_set(&c, "run_dir", "/tmp/x", &err), 0);
	assert_string_equal(c.run_dir, "/tmp/x");
	assert_int_equal(conf_set(&c, "run_dir", "x", &err), -EINVAL);
	assert_string_equal(err.text, "run_dir: 'x' is not allowed; allowed: an absolute path");
	assert_int_equal(conf_set(&c, "rundir", "/x", &err), -EINVAL);
	assert_string_equal(err.text, "unknown option rundir; did you mean run_dir?");
	assert_string_equal(c.run_dir, "/tmp/x");
	conf_clear(&c);
}

static void test_reload(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct gq_conf old, new;

	(void)state;
	conf_default(&old);
	load_ok("pool: { offline_fill = false; }", &new);
	conf_not_reloadable(&old, &new, &b);
	assert_string_equal(buf_c(&b), "");
	conf_clear(&new);
	load_ok("state_dir = \"/x\"; nvml_library = \"y\"; monitor: { idle_percent = 9; }", &new);
	conf_not_reloadable(&old, &new, &b);
	assert_string_equal(buf_c(&b), "monitor.idle_percent, state_dir, nvml_library");
	conf_clear(&new);
	conf_clear(&old);
}

/* What is printed is read again to the same, and prints the same. */
static void test_print(void **state)
{
	_cleanup_buf_ struct buf one = BUF_INIT, two = BUF_INIT, sample = BUF_INIT;
	struct gq_conf c, back;

	(void)state;
	load_ok("quota: { offline_max_vram_ratio = 0.125; } min_fill_granularity = 90.5;"
		"log: { file = \"/var/log/g \\\\ \\\"q\"; } monitor: { sample_period = 0.25; }"
		"services: { chat: { cards = [\"0\", \"1\"]; lease = 90; } }"
		"cards: ( { card = \"0\"; labels = [\"x\", \"y\"]; }, { card = \"1\"; } );", &c);
	conf_print(&c, &one);
	load_ok(buf_c(&one), &back);
	conf_print(&back, &two);
	assert_string_equal(buf_c(&one), buf_c(&two));
	assert_true(back.offline_max_vram_ratio == 0.125);
	assert_int_equal(back.min_window, GQ_MSEC(90500));
	assert_string_equal(back.cards[0].labels, "x,y");
	conf_clear(&c);
	conf_clear(&back);

	/* The sample is valid as it is, and with every option taken in. */
	conf_print_sample(&sample);
	load_ok(buf_c(&sample), &c);
	conf_clear(&c);
	for (char *p = sample.data; (p = strchr(p, '#')); p++)
		if (p[1] != ' ')
			*p = ' ';
	load_ok(buf_c(&sample), &c);
	buf_reset(&one);
	buf_reset(&two);
	conf_clear(&back);
	conf_default(&back);
	assert_int_equal(c.n_services, 1);
	conf_not_reloadable(&c, &back, &one);
	assert_string_equal(buf_c(&one), "");
	conf_clear(&c);
	conf_clear(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_values), cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_deep), cmocka_unit_test(test_files), cmocka_unit_test(test_set),
		cmocka_unit_test(test_reload), cmocka_unit_test(test_print)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
