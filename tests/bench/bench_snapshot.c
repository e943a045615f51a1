/* SPDX-License-Identifier: MIT
 * bench_snapshot.c - what tests/bench/snapshot needs and a shell has not
 *   memory MIB ASK   so much memory: a quarter zeros, half random mantissas, a quarter words; whenever
 *                    the file ASK appears it is removed and a line with a hash of all memory printed
 *   touch MIB        makes sure that the machine really has so much memory, and gives it back
 *   drain DIR        a streamer that forgets all that criu dump --stream -D DIR says
 *   median NUMBER…   the middle one */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "checkpoint/wire.h"

#define MIB   ((size_t)1 << 20)
#define PIPES 512

static uint64_t seed = 88172645463325252u;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void floats(unsigned char *p)
{
	for (size_t i = 0; i < MIB; i += 4) {
		uint64_t r = random64();
		uint32_t exponent = 126 - (uint32_t)__builtin_ctzll(r >> 40 | 1 << 8);
		uint32_t f = ((uint32_t)r & 0x807fffff) | exponent << 23;

		memcpy(p + i, &f, sizeof(f));
	}
}

static void words(unsigned char *p)
{
	char word[24];

	for (size_t i = 0; i < MIB;) {
		uint64_t r = random64();
		int bits = __builtin_ctzll(r | 1 << 13) + 1;
		int n = snprintf(word, sizeof(word), "w%llx ", (unsigned long long)(r >> (64 - bits)) * 2654435761u);

		for (int k = 0; k < n && i < MIB; k++)
			p[i++] = (unsigned char)word[k];
	}
}

static uint64_t hash(const unsigned char *m, size_t n)
{
	uint64_t h[4] = {1, 2, 3, 4}, w[4];

	for (size_t i = 0; i < n; i += sizeof(w)) {
		memcpy(w, m + i, sizeof(w));
		for (int k = 0; k < 4; k++) {
			h[k] = (h[k] ^ w[k]) * UINT64_C(0x9fb21c651e98df25);
			h[k] ^= h[k] >> 31;
		}
	}
	return h[0] ^ h[1] * 3 ^ h[2] * 5 ^ h[3] * 7;
}

static int memory(size_t mib, const char *ask)
{
	unsigned char *m = malloc(mib * MIB);

	if (!m)
		return 1;
	for (size_t i = 0; i < mib; i++) {
		if (i % 4 == 0)
			memset(m + i * MIB, 0, MIB);
		else if (i % 4 == 3)
			words(m + i * MIB);
		else
			floats(m + i * MIB);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	for (;; usleep(5000))
		if (unlink(ask) == 0)
			printf("%016llx\n", (unsigned long long)hash(m, mib * MIB));
}

static int touch(size_t mib)
{
	unsigned char *m = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		return 1;
	madvise(m, mib * MIB, MADV_HUGEPAGE);
	for (size_t i = 0; i < mib * MIB; i += 4096)
		m[i] = 1;
	return 0;
}

static int drain(const char *dir)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct pollfd p[PIPES + 1];
	static char data[MIB], name[GQI_NAME_MAX + 1];
	int n = 1, listener = socket(AF_UNIX, SOCK_STREAM, 0);

	if (chdir(dir) < 0)
		return 1;
	snprintf(a.sun_path, sizeof(a.sun_path), WIRE_CAPTURE);
	unlink(a.sun_path);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(listener, 1) < 0)
		return 1;
	p[0] = (struct pollfd){accept(listener, NULL, NULL), POLLIN, 0};
	while (p[0].fd >= 0 || n > 1) {
		poll(p, (nfds_t)n, -1);
		for (int i = n - 1; i > 0; i--)
			if (p[i].revents && read(p[i].fd, data, sizeof(data)) <= 0) {
				close(p[i].fd);
				p[i] = p[--n];
			}
		if (!p[0].revents)
			continue;
		if (n <= PIPES && wire_read_name(p[0].fd, name) == 1) {
			p[n] = (struct pollfd){wire_recv_fd(p[0].fd), POLLIN, 0};
			fcntl(p[n++].fd, F_SETPIPE_SZ, 1 << 20);
		} else {
			close(TAKE_FD(p[0].fd));
			p[0].revents = 0;
		}
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int median(int n, char **words_)
{
	double v[64];

	for (int i = 0; i < n && i < 64; i++)
		v[i] = strtod(words_[i], NULL);
	qsort(v, (size_t)n, sizeof(*v), compare);
	printf("%.3f\n", n ? v[n / 2] : 0);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "memory"))
		return memory((size_t)strtoull(argv[2], NULL, 10), argv[3]);
	if (argc == 3 && !strcmp(argv[1], "touch"))
		return touch((size_t)strtoull(argv[2], NULL, 10));
	if (argc == 3 && !strcmp(argv[1], "drain"))
		return drain(argv[2]);
	if (argc > 2 && argc < 66 && !strcmp(argv[1], "median"))
		return median(argc - 2, argv + 2);
	fprintf(stderr, "bench-snapshot memory|touch|drain|median: see its source\n");
	return 2;
}
