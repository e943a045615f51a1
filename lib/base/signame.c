/* SPDX-License-Identifier: MIT
 * signame.c - signals by name */
#include "base/signame.h"

#include <signal.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

int signal_parse(const char *s, int *ret, struct gq_err *err)
{
	const char *name = strncasecmp(s, "SIG", 3) ? s : s + 3;
	int64_t n;

	if (parse_int(s, 1, 64, &n, NULL) == 0) {
		*ret = (int)n;
		return 0;
	}
	for (int i = 1; i < 32; i++) {
		const char *known = sigabbrev_np(i);

		if (known && !strcasecmp(known, name)) {
			*ret = i;
			return 0;
		}
	}
	return gq_err_set(err, -EINVAL, "'%.40s' is no signal; write TERM, USR1 or a number from 1 to 64",
		s);
}

const char *signal_name(int sig)
{
	const char *s = sigabbrev_np(sig);

	return s ? s : "?";
}
