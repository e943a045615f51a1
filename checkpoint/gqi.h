/* SPDX-License-Identifier: MIT
 * gqi.h - the image container, read side: named streams in checked frames (FORMAT.md)
 * Any file is found by its name and any frame of it read by itself. Stands on libc alone: what is
 * compressed stays so (frame.h).
 * Promises: every byte of an image is under a checksum; a wrong one is reported with its offset;
 * nothing in a file can make a reader allocate much more than the file is long.
 * Errors: -EILSEQ damaged, cut off or foreign; -EPROTONOSUPPORT a newer version. */
#ifndef GQ_CHECKPOINT_GQI_H
#define GQ_CHECKPOINT_GQI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define GQI_VERSION     1u
#define GQI_CHUNK       (1u << 20) /* raw bytes of a frame at most */
#define GQI_NAME_MAX    255u
#define GQI_HEADER_SIZE 64u
#define GQI_RECORD_SIZE 40u
#define GQI_TRAILER_SIZE 64u
#define GQI_NO_FILE     UINT32_MAX

enum gqi_codec { GQI_RAW, GQI_ZSTD, GQI_ZERO };
enum gqi_type { GQI_FRAME = 1, GQI_MANIFEST = 2, GQI_INDEX = 3 }; /* others are passed over */

struct gqi_frame {
	uint64_t offset; /* of its record */
	uint64_t sum;    /* of what is stored */
	uint32_t raw_n, stored_n;
	uint32_t file, seq; /* which file, and which of its frames */
	enum gqi_codec codec;
};

struct gqi_file {
	char *name;                     /* owned */
	const struct gqi_frame *frames; /* borrowed from struct gqi */
	uint32_t n;
	uint64_t bytes, stored;
};

struct gqi {
	int fd;
	char *path;               /* owned; for messages */
	uint32_t version, chunk;
	int64_t job, incarnation, created;
	uint64_t bytes;           /* of the container */
	uint64_t raw, stored;     /* of all files */
	struct gqi_file *files;   /* owned; in the order they were begun */
	struct gqi_frame *frames; /* owned; file by file */
	uint32_t n_files, n_frames;
	char *manifest;           /* owned; key=value lines */
	uint64_t manifest_at, index_at;
};

/* Checks header, trailer, index and manifest; reads no frame. */
int gqi_open(const char *path, struct gqi *ret, struct gq_err *err);
void gqi_close(struct gqi *g);
#define _cleanup_gqi_ __attribute__((cleanup(gqi_close)))
#define GQI_EMPTY {.fd = -1}

const struct gqi_file *gqi_find(const struct gqi *g, const char *name); /* NULL = none */

/* The stored bytes of one frame (frame->stored_n of them), checked. Any thread may call it. */
int gqi_read(const struct gqi *g, const struct gqi_frame *frame, void *buf, struct gq_err *err);

/* The same past the page cache: @direct_fd was opened with O_DIRECT, @buf has GQI_DIRECT_SIZE() bytes
 * and is aligned to GQI_DIRECT; the stored bytes are at *ret. -EINVAL: the file system cannot. */
int gqi_read_direct(const struct gqi *g, int direct_fd, const struct gqi_frame *frame,
	unsigned char *buf, const unsigned char **ret, struct gq_err *err);
#define GQI_DIRECT          4096u
#define GQI_DIRECT_SIZE(g)  ((size_t)(g)->chunk + 2 * GQI_DIRECT)

/* Says that frame @f is bad, where it lies and whose it is. Returns -EILSEQ. */
int gqi_blame(const struct gqi *g, const struct gqi_frame *f, const char *what, struct gq_err *err);

/* Reads every byte, unknown sections too. */
int gqi_verify(const struct gqi *g, struct gq_err *err);

bool gqi_name_ok(const char *name); /* a plain file name that can be written anywhere */

#endif
