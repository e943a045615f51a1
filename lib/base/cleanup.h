/* SPDX-License-Identifier: MIT
 * cleanup.h - release at the end of the scope, so that early return is always safe */
#ifndef GQ_BASE_CLEANUP_H
#define GQ_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_p(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_p(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose_p(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedir_p(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define _cleanup_(f)      __attribute__((cleanup(f)))
#define _cleanup_free_     _cleanup_(cleanup_free_p)
#define _cleanup_close_    _cleanup_(cleanup_close_p)
#define _cleanup_fclose_   _cleanup_(cleanup_fclose_p)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir_p)

/* Hand over: the variable is left empty, its value is the result. */
#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) take_ = (p);                                                         \
		(p) = NULL;                                                                        \
		take_;                                                                             \
	})
#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int take_ = (fd);                                                                  \
		(fd) = -1;                                                                         \
		take_;                                                                             \
	})

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
