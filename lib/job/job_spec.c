/* SPDX-License-Identifier: MIT
 * job_spec.c - defaults, and giving everything back */
#include "job/job_spec.h"

#include <stdlib.h>

void job_spec_init(struct job_spec *s)
{
	*s = (struct job_spec){.gpus = 1,
		.time_limit = GQ_NEVER,
		.grace = GQ_NEVER,
		.signal_before = GQ_SEC(60),
		.checkpoint = JOB_CHECKPOINT_AUTO,
		.checkpoint_exit_code = 85,
		.priority = -1,
		.requeue = true,
		.umask = 022};
}

static void strings_free(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void job_spec_clear(struct job_spec *s)
{
	char *texts[] = {s->name, s->account, s->comment, s->gpu_type, s->cwd, s->input, s->output,
		s->error, s->script};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	strings_free(s->argv);
	strings_free(s->env);
	job_spec_init(s);
}
