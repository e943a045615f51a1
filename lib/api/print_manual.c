/* SPDX-License-Identifier: MIT
 * print_manual.c - program used by the build: writes API.md from the tables */
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "message.h"

int main(void)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	api_manual(&out);
	return write_all(STDOUT_FILENO, buf_c(&out), out.len) < 0;
}
