/* SPDX-License-Identifier: MIT
 * descriptor.h - which open files and mappings an image cannot hold, and pipes that lead outside */
#ifndef GQ_CHECKPOINT_DESCRIPTOR_H
#define GQ_CHECKPOINT_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/stat.h>

#include "findings.h"

struct pipe_end {
	dev_t dev;
	ino_t inode;
	pid_t pid; /* one that has it open, */
	int fd;    /* as this */
	bool reads, writes; /* ends that were seen in the job */
};

struct pipes {
	struct pipe_end *list; /* owned */
	size_t len, cap;
};

/* An open file of @pid; @link is its name in /proc. */
void descriptor_look(pid_t pid, const char *link, const struct stat *st, struct findings *found);
/* The same of a mapping, known by its name only. */
void mapping_look(pid_t pid, const char *name, struct findings *found);

void pipes_add(struct pipes *p, pid_t pid, int fd, const struct stat *st);
void pipes_look(const struct pipes *p, struct findings *found); /* when all are known */
void pipes_clear(struct pipes *p);

#endif
