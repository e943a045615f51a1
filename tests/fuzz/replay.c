/* SPDX-License-Identifier: MIT
 * replay.c - the main program of a fuzz entry in `make check`: its corpus, every file of it cut off
 * at every length, and nothing at all; TAP */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly @size bytes on the heap, so that a read behind them is seen by the sanitizer. */
static void feed(const char *data, size_t size)
{
	_cleanup_free_ uint8_t *copy = xmalloc(size ? size : 1);

	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : GQ_CORPUS;
	_cleanup_closedir_ DIR *dir = opendir(folder);
	struct dirent *e;
	int n = 0;

	feed("", 0);
	printf("ok %d - nothing\n", ++n);
	while (dir && (e = readdir(dir))) {
		_cleanup_free_ char *path = xasprintf("%s/%s", folder, e->d_name), *data = NULL;
		struct gq_err err;
		size_t len;

		if (e->d_name[0] == '.')
			continue;
		if (file_read(path, 16u << 20, &data, &len, &err) < 0) {
			printf("not ok %d - %s\n", ++n, err.text);
			continue;
		}
		for (size_t cut = 0; cut <= len && cut < 4096; cut++)
			feed(data, cut);
		feed(data, len);
		printf("ok %d - %s\n", ++n, e->d_name);
	}
	printf("1..%d\n", n);
	return 0;
}
