/* SPDX-License-Identifier: MIT
 * fuzz_spec.c - #GQ and #SBATCH lines of any bytes: read, checked, their patterns expanded
 * fuzz: lib/job/option.c lib/job/directives.c lib/job/types.c lib/job/types_word.c lib/job/types_json.c lib/job/check.c lib/job/path.c lib/job/job_spec.c
 * fuzz: lib/base/err.c lib/base/buf.c lib/base/mem.c lib/base/parse.c lib/base/utf8.c lib/base/signame.c lib/base/usage.c -lm
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "job/job_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *path = NULL;
	struct gq_err err = {0};
	struct job_spec s;

	job_spec_init(&s);
	s.script = xmalloc(size + 1);
	s.script_len = size;
	memcpy(s.script, data, size);
	s.script[size] = '\0';
	if (job_spec_directives(&s, "in", NULL, GQ_SEC(1796068800), &err) < 0 &&
		(strncmp(err.text, "in: line ", 9) || strchr(err.text, '\n')))
		abort();
	if (!s.cwd)
		s.cwd = xstrdup("/");
	job_spec_check(&s, &err);
	job_path_expand(s.output, s.cwd, 1, 1, "user", s.name, "host", &path, &err);
	job_spec_clear(&s);
	return 0;
}
