/* SPDX-License-Identifier: MIT
 * names.c - user names for uids, looked up once */
#include <pwd.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/parse.h"
#include "request.h"

#define NAMES_MAX                                                                        \
	65536 /* then the map is emptied: a leaked lookup is cheaper than a list without end */

static struct map names;

const char *names_user(uid_t uid)
{
	uint64_t key = (uint64_t)uid + 1;
	char *name = map_get(&names, key);
	const struct passwd *pw;

	if (name)
		return name;
	if (names.len >= NAMES_MAX)
		map_clear(&names);
	pw = getpwuid(uid);
	name = pw ? xstrdup(pw->pw_name) : xasprintf("%u", (unsigned)uid);
	map_put(&names, key, name);
	return name;
}

int names_uid(const char *text, uid_t *ret, struct gq_err *err)
{
	const struct passwd *pw;
	int64_t v;

	if (*text >= '0' && *text <= '9') {
		int r = parse_int(text, 0, UINT32_MAX - 1, &v, err);

		if (r < 0)
			return gq_err_prefix(err, r, "user");
		*ret = (uid_t)v;
		return 0;
	}
	pw = *text ? getpwnam(text) : NULL;
	if (!pw)
		return gq_err_set(
			err, -EINVAL, "user: no user '%.60s' on this machine", text);
	*ret = pw->pw_uid;
	return 0;
}
