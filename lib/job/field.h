/* SPDX-License-Identifier: MIT
 * field.h - the fields of a specification's JSON, made from fields.def */
#ifndef GQ_JOB_FIELD_H
#define GQ_JOB_FIELD_H

#include "job/job_spec.h"
#include "job/types.h"

struct job_field {
	const char *name;
	size_t name_len;
	const struct job_type *type;
	size_t offset; /* of the member in struct job_spec */
	const char *help;
};

extern const struct job_field job_fields[];
extern const size_t job_fields_len;

#endif
