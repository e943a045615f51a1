/* SPDX-License-Identifier: MIT
 * launch.c - turns a stored submission into a launch: whose job, in what environment, on which cards
 * The text kept with a job is "G<gid>,<gid>…\n" (its user's supplementary groups at submission, as
 * the kernel gave them) and then the specification's JSON. */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mem.h"
#include "daemon.h"
#include "job/job_spec.h"

#define GROUPS_MAX 1024

char *launch_spec_text(const struct api_peer *peer, const char *json, size_t len, size_t *ret_len)
{
	struct buf b = BUF_INIT;

	buf_chr(&b, 'G');
	for (size_t i = 0; i < peer->n_groups && i < GROUPS_MAX; i++)
		buf_fmt(&b, "%s%u", i ? "," : "", (unsigned)peer->groups[i]);
	buf_chr(&b, '\n');
	buf_add(&b, json, len);
	*ret_len = b.len;
	return buf_take(&b);
}

const char *launch_spec_json(const char *text, size_t len, size_t *ret_len)
{
	const char *nl = len && text[0] == 'G' ? memchr(text, '\n', len) : NULL;

	*ret_len = nl ? len - (size_t)(nl + 1 - text) : len;
	return nl ? nl + 1 : text;
}

static size_t launch_groups(const char *text, gid_t *groups)
{
	const char *p = text + 1;
	size_t n = 0;
	char *end;

	if (text[0] != 'G')
		return 0;
	while (*p && *p != '\n' && n < GROUPS_MAX) {
		groups[n++] = (gid_t)strtoul(p, &end, 10);
		p = *end == ',' ? end + 1 : end;
		if (end == p && *p != '\n')
			break;
	}
	return n;
}

#define USER_KEPT GQ_SEC(2)

/* NSS reads files, or asks servers. The user found last is found again without it, for a moment;
 * lent until the next call, NULL if there is none. */
static const struct passwd *launch_user(uid_t uid)
{
	static struct passwd kept, *found;
	static char buf[8192];
	static gq_time until;

	if (found && found->pw_uid == uid && gq_monotonic() < until)
		return found;
	getpwuid_r(uid, &kept, buf, sizeof(buf), &found);
	until = gq_monotonic() + USER_KEPT;
	return found;
}

int launch_check_user(uid_t uid, struct gq_err *err)
{
	if (launch_user(uid))
		return 0;
	return gq_err_set(err, -EPERM,
		"uid %u: no such user on this machine; its jobs could not be started", (unsigned)uid);
}

/* The environment under construction: later names replace earlier ones. */
struct envs {
	char **list; /* owned, NULL-terminated */
	size_t n;
};

static void env_set(struct envs *e, const char *name, const char *value)
{
	size_t len = strlen(name), i;

	for (i = 0; i < e->n; i++)
		if (!strncmp(e->list[i], name, len) && e->list[i][len] == '=')
			break;
	if (i == e->n) {
		e->list = xrealloc(e->list, e->n + 2, sizeof(*e->list));
		e->list[++e->n] = NULL;
	} else {
		free(e->list[i]);
	}
	e->list[i] = xasprintf("%s=%s", name, value);
}

static void env_default(struct envs *e, const char *name, const char *value)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < e->n; i++)
		if (!strncmp(e->list[i], name, len) && e->list[i][len] == '=')
			return;
	env_set(e, name, value);
}

static void env_copy(struct envs *e, char **from)
{
	size_t n = 0;

	while (from && from[n])
		n++;
	e->list = xnew_n(char *, n + 1);
	for (e->n = 0; e->n < n; e->n++)
		e->list[e->n] = xstrdup(from[e->n]);
}

static void envs_clear(struct envs *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->list[i]);
	free(e->list);
}

static void env_cards(struct daemon *d, struct envs *e, const struct job *j)
{
	const struct card *const *cards;
	size_t n = core_cards(d->core, &cards);
	struct buf uuids = BUF_INIT, indices = BUF_INIT;

	for (size_t i = 0; i < j->n_cards; i++) {
		if (j->cards[i] >= n)
			continue;
		buf_fmt(&uuids, "%s%s", uuids.len ? "," : "", cards[j->cards[i]]->uuid);
		buf_fmt(&indices, "%s%u", indices.len ? "," : "", j->cards[i]);
	}
	env_set(e, "CUDA_VISIBLE_DEVICES", buf_c(&uuids));
	env_set(e, "GQ_GPUS", buf_c(&indices));
	buf_clear(&uuids);
	buf_clear(&indices);
}

static void env_job(struct daemon *d, struct envs *e, const struct job *j, const struct job_spec *s,
	const struct passwd *pw)
{
	char number[24];

	env_default(e, "PATH", "/usr/local/bin:/usr/bin:/bin");
	if (pw) {
		env_default(e, "HOME", pw->pw_dir);
		env_default(e, "USER", pw->pw_name);
		env_default(e, "LOGNAME", pw->pw_name);
		env_default(e, "SHELL", pw->pw_shell);
	}
	snprintf(number, sizeof(number), "%u", j->id);
	env_set(e, "GQ_JOB_ID", number);
	snprintf(number, sizeof(number), "%u", j->incarnation);
	env_set(e, "GQ_INCARNATION", number);
	snprintf(number, sizeof(number), "%lld", (long long)j->vram_mib);
	if (j->vram_mib)
		env_set(e, "GQ_VRAM_MIB", number);
	snprintf(number, sizeof(number), "%lld",
		(long long)((j->grace < d->conf.graceful_exit ? j->grace : d->conf.graceful_exit) /
			    GQ_NS_PER_S));
	env_set(e, "GQ_GRACE_SEC", number);
	snprintf(number, sizeof(number), "%u", j->exit_saved);
	env_set(e, "GQ_CHECKPOINT_EXIT_CODE", number);
	env_set(e, "GQ_JOB_NAME", j->name);
	if (j->account)
		env_set(e, "GQ_JOB_ACCOUNT", j->account);
	env_set(e, "GQ_SUBMIT_DIR", s->cwd ? s->cwd : "/");
	env_set(e, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	env_cards(d, e, j);
}

struct paths {
	char *in, *out, *err; /* owned */
};

static void paths_clear(struct paths *p)
{
	free(p->in);
	free(p->out);
	free(p->err);
}

static int launch_paths(const struct job *j, const struct job_spec *s, const char *user,
	struct paths *p, struct gq_err *err)
{
	char host[256] = "localhost";
	int r;

	gethostname(host, sizeof(host) - 1);
	r = job_path_expand(s->output ? s->output : "gq-%j.out", s->cwd, j->id, j->incarnation, user,
		j->name, host, &p->out, err);
	if (!r && s->error)
		r = job_path_expand(s->error, s->cwd, j->id, j->incarnation, user, j->name, host,
			&p->err, err);
	if (!r && s->input)
		r = job_path_expand(s->input, s->cwd, j->id, j->incarnation, user, j->name, host,
			&p->in, err);
	return r;
}

static void launch_fill(struct exec_job *x, const struct job *j, const struct job_spec *s,
	const struct paths *p, const struct envs *e)
{
	static const char *const no_words[] = {NULL};

	x->job = j->id;
	x->incarnation = j->incarnation;
	x->uid = j->uid;
	x->gid = j->gid;
	x->umask = s->umask;
	x->rlimits = s->has_rlimits ? s->rlimits : NULL;
	x->n_rlimits = s->has_rlimits ? RLIM_NLIMITS : 0;
	x->cwd = s->cwd ? s->cwd : "/";
	x->env = (const char *const *)e->list;
	x->script = s->script;
	x->script_len = s->script_len;
	x->argv = s->argv ? (const char *const *)s->argv : no_words;
	x->stdin_path = p->in;
	x->stdout_path = p->out;
	x->stderr_path = p->err;
	x->truncate = s->truncate;
	x->fresh_output = !j->started_at; /* also when a first try could not start it */
}

static int launch_spec(struct daemon *d, const struct job *j, const struct job_spec *s,
	const char *text, bool restore, struct gq_err *err)
{
	const struct passwd *pw = launch_user(j->uid);
	struct exec_job x = {.image = restore ? j->image : 0};
	struct paths paths = {0};
	struct envs envs = {0};
	gid_t groups[GROUPS_MAX];
	char user[24];
	int r;

	snprintf(user, sizeof(user), "%u", (unsigned)j->uid);
	r = launch_paths(j, s, pw ? pw->pw_name : user, &paths, err);
	if (r == 0) {
		env_copy(&envs, s->env);
		env_job(d, &envs, j, s, pw);
		launch_fill(&x, j, s, &paths, &envs);
		x.groups = groups;
		x.n_groups = launch_groups(text, groups);
		r = exec_start(d->exec, &x, err);
	}
	envs_clear(&envs);
	paths_clear(&paths);
	return r;
}

int launch_job(struct daemon *d, const struct job *j, bool restore, struct gq_err *err)
{
	_cleanup_free_ char *text = NULL;
	struct job_spec spec;
	const char *json;
	size_t len, n;
	int r = d->store->ops->get_spec(d->store, j->id, &text, &len, err);

	if (r < 0)
		return r;
	json = launch_spec_json(text, len, &n);
	r = job_spec_from_json(json, n, j->submitted_at, &spec, err);
	if (r < 0)
		return r;
	r = launch_spec(d, j, &spec, text, restore, err);
	job_spec_clear(&spec);
	return r;
}
