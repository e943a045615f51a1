/* SPDX-License-Identifier: MIT
 * test_store_crash.c - what was acknowledged survives kill -9, and a full disk hurts nobody for long */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/gqtime.h"
#include "store_rows.h"

#define KILLS     12
#define BATCH_MAX 7

static struct gq_err err;

/* Puts jobs from @id on, a few per turn, and says each acknowledged id on @fd, until killed. */
static void writer(const char *dir, uint32_t id, int fd)
{
	struct store *s;

	if (store_sqlite_open(dir, &s, &err))
		_exit(1);
	for (;;) {
		if (s->ops->begin(s, &err))
			_exit(2);
		for (uint32_t n = 1 + id % BATCH_MAX; n; n--) {
			struct job j = job_row(id, JOB_PENDING);

			if (s->ops->put_job(s, &j, &err) ||
				s->ops->put_spec(s, id, (const char *)&id, sizeof(id), &err))
				_exit(3);
			job_clear(&j);
			id++;
		}
		if (s->ops->commit(s, &err) || write(fd, &id, sizeof(id)) != sizeof(id))
			_exit(4);
	}
}

/* Lets a writer go on for @acks turns, kills it; the last id that it acknowledged, plus one. */
static uint32_t run_and_kill(const char *dir, uint32_t from, int acks)
{
	uint32_t acked = from;
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(fds[0]);
		writer(dir, from, fds[1]);
	}
	close(fds[1]);
	while (acks-- && read(fds[0], &acked, sizeof(acked)) == sizeof(acked))
		;
	kill(pid, SIGKILL);
	while (read(fds[0], &acked, sizeof(acked)) == sizeof(acked)) /* said before it died */
		;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return acked;
}

static void check_job(struct store *s, uint32_t id)
{
	struct job want = job_row(id, JOB_PENDING), have;
	size_t len;
	char *spec;

	assert_int_equal(s->ops->get_job(s, id, &have, &err), 0);
	assert_true(job_same(&want, &have));
	assert_int_equal(s->ops->get_spec(s, id, &spec, &len, &err), 0);
	assert_int_equal(len, sizeof(id));
	assert_memory_equal(spec, &id, sizeof(id));
	free(spec);
	job_clear(&want);
	job_clear(&have);
}

/* Returns the first id that is not there; a turn is there whole or not at all. */
static uint32_t check_all(const char *dir, uint32_t acked)
{
	struct store *s = NULL;
	struct job j;
	uint32_t id = 1;

	assert_int_equal(store_sqlite_open(dir, &s, &err), 0);
	for (; id < acked; id++)
		check_job(s, id);
	while (s->ops->get_job(s, id, &j, &err) == 0) {
		job_clear(&j);
		check_job(s, id++); /* committed, the answer did not get out */
	}
	store_close(&s);
	return id;
}

static void test_kill(void **state)
{
	_cleanup_dir_ char *dir = store_dir_new(NULL);
	uint32_t next = 1;

	(void)state;
	for (int i = 0; i < KILLS; i++) {
		uint32_t from = next, acked = run_and_kill(dir, from, i * 3);

		next = check_all(dir, acked);
		assert_true(next == acked || next == acked + 1 + acked % BATCH_MAX);
	}
	assert_true(next > KILLS);
}

/* ---- full disk ---- */

static void fill_disk(const char *path)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	while (write(fd, zeros, sizeof(zeros)) == sizeof(zeros))
		;
	close(fd);
}

static int put_turn(struct store *s, uint32_t from, uint32_t n)
{
	int r = s->ops->begin(s, &err);

	if (r)
		return r;
	for (uint32_t id = from; id < from + n; id++) {
		struct job j = job_row(id, JOB_PENDING);

		s->ops->put_job(s, &j, &err);
		s->ops->put_spec(s, id, (const char *)&id, sizeof(id), &err);
		job_clear(&j);
	}
	return s->ops->commit(s, &err);
}

static void test_full_disk(void **state)
{
	char *mount_point = *state, *dir = xasprintf("%s/state", mount_point),
	     *ballast = xasprintf("%s/ballast", mount_point);
	struct store *s = NULL;
	uint32_t id = 1;
	int r;

	assert_int_equal(dir_make(dir, 0700, &err), 0);
	assert_int_equal(store_sqlite_open(dir, &s, &err), 0);
	assert_int_equal(put_turn(s, id, 10), 0);
	id += 10;
	fill_disk(ballast);
	assert_int_equal(s->ops->probe(s, &err), -ENOSPC);
	while ((r = put_turn(s, id, 50)) == 0) /* what space there is, is used */
		id += 50;
	assert_int_equal(r, -ENOSPC);
	assert_non_null(strstr(err.text, "No space left on device"));
	assert_int_equal(put_turn(s, id, 50), -ENOSPC);
	check_job(s, id - 1); /* reading goes on */
	assert_int_equal(unlink(ballast), 0);
	assert_int_equal(s->ops->probe(s, &err), 0);
	assert_int_equal(put_turn(s, id, 50), 0);
	id += 50;
	store_close(&s);
	assert_int_equal(check_all(dir, id), id);

	/* Full while the file is opened: refused or read, never harmed. */
	fill_disk(ballast);
	if (store_sqlite_open(dir, &s, &err) == 0)
		store_close(&s);
	assert_int_equal(unlink(ballast), 0);
	assert_int_equal(check_all(dir, id), id);
	free(ballast);
	free(dir);
}

static int mount_small(void **state)
{
	char *dir = store_dir_new(NULL);

	if (mount("gq-test", dir, "tmpfs", MS_NOSUID | MS_NODEV, "size=6m,mode=700")) {
		rmdir(dir);
		free(dir);
		return -1;
	}
	*state = dir;
	return 0;
}

static int umount_small(void **state)
{
	umount2(*state, MNT_DETACH);
	rmdir(*state);
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill),
		cmocka_unit_test_setup_teardown(test_full_disk, mount_small, umount_small)};
	void *probe = NULL;
	size_t skipped = 1;

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (mount_small(&probe) == 0) {
		umount_small(&probe);
		skipped = 0;
	} else {
		printf("# the full-disk test is left out: mounting a small tmpfs needs root\n");
	}
	return _cmocka_run_group_tests("store_crash", tests, ARRAY_LEN(tests) - skipped, NULL, NULL);
}
