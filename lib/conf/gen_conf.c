/* SPDX-License-Identifier: MIT
 * gen_conf.c - run by the build: `gen-conf man` and `gen-conf sample` */
#include <stdio.h>
#include <string.h>

#include "conf/conf.h"

int main(int argc, char **argv)
{
	struct buf b = BUF_INIT;

	if (argc == 2 && !strcmp(argv[1], "man")) {
		conf_print_man(&b);
	} else if (argc == 2 && !strcmp(argv[1], "sample")) {
		conf_print_sample(&b);
	} else {
		fprintf(stderr, "usage: gen-conf man|sample\n");
		return 2;
	}
	fputs(buf_c(&b), stdout);
	buf_clear(&b);
	return fflush(stdout) ? 1 : 0;
}
