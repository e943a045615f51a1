/* SPDX-License-Identifier: MIT
 * main.c - gq-shim: parent of one job; also the two small helpers that must start as fast
 * Started by gqd only, with the descriptor of launch.h. No option is for people. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "checkpoint/gate.h"
#include "shim.h"

int main(int argc, char **argv)
{
	static struct shim s = {.cgroup_fd = -1, .listen_fd = -1, .link_fd = SHIM_FD_LINK,
		.status_fd = -1};

	umask(0022);
	if (gate_asked())
		return gate_main();
	if (argc == 3 && !strcmp(argv[1], "--remove"))
		return dir_remove(argv[2]) < 0;
	if (argc != 1) {
		fputs("gq-shim: it is started by gqd\n", stderr);
		return 2;
	}
	fd_cloexec_all(SHIM_FD_LINK);
	return shim_run(&s);
}
