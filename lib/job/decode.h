/* SPDX-License-Identifier: MIT
 * decode.h - a specification from a JSON value that is parsed already: one entry of a batch
 * Parse with JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL: duplicates are refused there, NUL here, with
 * the field's name. */
#ifndef GQ_JOB_DECODE_H
#define GQ_JOB_DECODE_H

#include <jansson.h>

#include "job/job_spec.h"

/* As job_spec_from_json(); @value is borrowed. */
int job_spec_from_value(json_t *value, gq_time now, struct job_spec *ret, struct gq_err *err);

#endif
