/* SPDX-License-Identifier: MIT
 * shm.c - an archive of small needs: regular files with holes, folders, symbolic and hard links */
#include "shm.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"

#define SHM_MAGIC  UINT64_C(0x31304d485351470a) /* "\nGQSHM01" */
#define COPY_BYTES (256u << 10)

enum entry_type { ENTRY_END, ENTRY_FOLDER, ENTRY_FILE, ENTRY_SYMLINK, ENTRY_HARDLINK };

/* Then @name_len bytes of name (below /dev/shm); then for links @text_len bytes of target, for
 * files runs of {offset, length, data}, ended by length 0. */
struct entry {
	uint32_t type, mode;
	uint32_t uid, gid;
	int64_t size, mtime_ns;
	uint32_t name_len, text_len;
};

struct run {
	int64_t offset, length;
};

struct saver {
	int fd;          /* the archive */
	struct map seen; /* inode → first name (owned), of files with several names */
};

static int save_run(struct saver *s, int file, int64_t from, int64_t to)
{
	static char data[COPY_BYTES];
	struct run run = {from, to - from};
	int r = write_all(s->fd, &run, sizeof(run));

	while (!r && from < to) {
		size_t want = to - from < (int64_t)sizeof(data) ? (size_t)(to - from) : sizeof(data);
		ssize_t n = pread(file, data, want, from);

		if (n <= 0)
			return n < 0 ? -errno : -EIO; /* the job is frozen: nobody cuts it off */
		r = write_all(s->fd, data, (size_t)n);
		from += n;
	}
	return r;
}

static int save_data(struct saver *s, int dir, const char *name, int64_t size)
{
	_cleanup_close_ int file = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int64_t at = 0;
	struct run end = {0, 0};

	if (file < 0)
		return -errno;
	while (at < size) {
		int64_t from = lseek(file, at, SEEK_DATA), to;
		int r;

		if (from < 0)
			break; /* only a hole is left */
		to = lseek(file, from, SEEK_HOLE);
		if (to > size)
			to = size;
		r = save_run(s, file, from, to);
		if (r < 0)
			return r;
		at = to;
	}
	return write_all(s->fd, &end, sizeof(end));
}

static int save_head(struct saver *s, enum entry_type type, const struct stat *st, const char *path,
	const char *text)
{
	struct entry e = {
		.type = type,
		.mode = st->st_mode & 07777,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.size = st->st_size,
		.mtime_ns = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
		.name_len = (uint32_t)strlen(path),
		.text_len = (uint32_t)strlen(text),
	};
	int r = write_all(s->fd, &e, sizeof(e));

	if (!r)
		r = write_all(s->fd, path, e.name_len);
	return r ? r : write_all(s->fd, text, e.text_len);
}

static int save_dir(struct saver *s, int at, const char *name, const char *path);

static int save_file(struct saver *s, int dir, const char *name, const char *path,
	const struct stat *st)
{
	const char *first = st->st_nlink > 1 ? map_get(&s->seen, st->st_ino) : NULL;
	int r;

	if (first)
		return save_head(s, ENTRY_HARDLINK, st, path, first);
	if (st->st_nlink > 1)
		map_put(&s->seen, st->st_ino, xstrdup(path));
	r = save_head(s, ENTRY_FILE, st, path, "");
	return r ? r : save_data(s, dir, name, st->st_size);
}

static int save_one(struct saver *s, int dir, const char *name, const char *path)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int r;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return save_file(s, dir, name, path, &st);
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		if (n < 0)
			return -errno;
		target[n] = '\0';
		return save_head(s, ENTRY_SYMLINK, &st, path, target);
	}
	if (!S_ISDIR(st.st_mode))
		return 0;
	r = save_head(s, ENTRY_FOLDER, &st, path, "");
	return r ? r : save_dir(s, dir, name, path);
}

static int save_dir(struct saver *s, int at, const char *name, const char *path)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	_cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d)
		return -errno;
	while (!r && (e = readdir(d))) {
		_cleanup_free_ char *below = NULL;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		below = path[0] ? xasprintf("%s/%s", path, e->d_name) : xstrdup(e->d_name);
		r = save_one(s, fd, e->d_name, below);
	}
	return r;
}

bool shm_any(void)
{
	_cleanup_closedir_ DIR *d = opendir(SHM_DIR);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			return true;
	return false;
}

int shm_save(int fd, struct gq_err *err)
{
	uint64_t magic = SHM_MAGIC;
	struct stat none = {0};
	struct saver s = {.fd = fd};
	char *name;
	int r;

	r = write_all(s.fd, &magic, sizeof(magic));
	if (!r)
		r = save_dir(&s, AT_FDCWD, SHM_DIR, "");
	if (!r)
		r = save_head(&s, ENTRY_END, &none, "", "");
	for (size_t i = 0; (name = map_next(&s.seen, &i));)
		free(name);
	map_clear(&s.seen);
	return r < 0 ? gq_err_sys(err, r, "save %s", SHM_DIR) : 0;
}

static int read_exactly(int fd, void *data, size_t n)
{
	ssize_t got = 0;

	while (n) {
		got = read(fd, data, n);
		if (got <= 0)
			return got < 0 ? -errno : -EILSEQ;
		data = (char *)data + got;
		n -= (size_t)got;
	}
	return 0;
}

static int load_data(int fd, int file, int64_t size)
{
	static char data[COPY_BYTES];
	struct run run;
	int r;

	if (ftruncate(file, size) < 0)
		return -errno;
	while (!(r = read_exactly(fd, &run, sizeof(run))) && run.length) {
		if (lseek(file, run.offset, SEEK_SET) < 0)
			return -errno;
		while (!r && run.length > 0) {
			size_t n = run.length < (int64_t)sizeof(data) ? (size_t)run.length : sizeof(data);

			r = read_exactly(fd, data, n);
			if (!r)
				r = write_all(file, data, n);
			run.length -= (int64_t)n;
		}
		if (r)
			return r;
	}
	return r;
}

static int load_file(int fd, int dir, const char *name, const struct entry *e)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
		{e->mtime_ns / 1000000000, e->mtime_ns % 1000000000}};
	_cleanup_close_ int file = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = file < 0 ? -errno : load_data(fd, file, e->size);

	if (!r && (fchown(file, e->uid, e->gid) < 0 || fchmod(file, e->mode) < 0 ||
			futimens(file, times) < 0))
		r = -errno;
	return r;
}

static int load_one(int fd, int dir, const struct entry *e, const char *name, const char *text)
{
	int r = 0;

	switch (e->type) {
	case ENTRY_FILE:
		return load_file(fd, dir, name, e);
	case ENTRY_FOLDER:
		r = mkdirat(dir, name, 0700) < 0 || fchownat(dir, name, e->uid, e->gid, 0) < 0 ||
			fchmodat(dir, name, e->mode, 0) < 0;
		break;
	case ENTRY_SYMLINK:
		r = symlinkat(text, dir, name) < 0 ||
			fchownat(dir, name, e->uid, e->gid, AT_SYMLINK_NOFOLLOW) < 0;
		break;
	case ENTRY_HARDLINK:
		r = linkat(dir, text, dir, name, 0) < 0;
		break;
	default:
		return -EILSEQ;
	}
	return r ? -errno : 0;
}

static int load_all(int fd, int dir)
{
	char name[PATH_MAX], text[PATH_MAX];
	uint64_t magic;
	struct entry e;
	int r = read_exactly(fd, &magic, sizeof(magic));

	if (!r && magic != SHM_MAGIC)
		r = -EILSEQ;
	while (!r) {
		r = read_exactly(fd, &e, sizeof(e));
		if (!r && e.type == ENTRY_END)
			return 0;
		if (!r && (e.name_len >= sizeof(name) || e.text_len >= sizeof(text)))
			r = -EILSEQ;
		if (!r)
			r = read_exactly(fd, name, e.name_len);
		if (!r)
			r = read_exactly(fd, text, e.text_len);
		if (r)
			break;
		name[e.name_len] = text[e.text_len] = '\0';
		r = load_one(fd, dir, &e, name, text);
	}
	return r;
}

int shm_load(int fd, struct gq_err *err)
{
	_cleanup_close_ int dir = open(SHM_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? -errno : load_all(fd, dir);

	return r < 0 ? gq_err_sys(err, r, "fill %s", SHM_DIR) : 0;
}
