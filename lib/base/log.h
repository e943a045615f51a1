/* SPDX-License-Identifier: MIT
 * log.h - one line per event: the subject, what happened, what happens next
 * Only daemon, api, shim and mains call log_err/log_warn/log_info; rooms below return errors
 * and may use log_debug. */
#ifndef GQ_BASE_LOG_H
#define GQ_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines go to stderr, or to @path (appended) when set. With @timestamps each begins with UTC
 * ISO 8601 in ms. Under systemd (JOURNAL_STREAM set) a "<3>" style priority is put instead. */
void log_open(const char *program, enum log_level max, bool timestamps);
int log_to_file(const char *path); /* 0 or -errno; again after a rotation */
int log_fd(void);

void log_err(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
