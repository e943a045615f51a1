/* SPDX-License-Identifier: MIT
 * stats.h - the one number of criu's stats-dump that people ask for */
#ifndef GQ_CHECKPOINT_STATS_H
#define GQ_CHECKPOINT_STATS_H

#include "base/gqtime.h"

gq_time stats_frozen(const char *work_dir); /* how long the job stood still; 0 = not known */

#endif
