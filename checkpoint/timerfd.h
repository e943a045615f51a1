/* SPDX-License-Identifier: MIT
 * timerfd.h - winds periodic timer descriptors up again after a restore
 * One that had run out and was not read yet is restored by criu with its ticks but stopped for ever,
 * as the kernel winds such a timer up only when those ticks are read.
 * Leaves to others: every other kind of timer, which criu restores well. */
#ifndef GQ_CHECKPOINT_TIMERFD_H
#define GQ_CHECKPOINT_TIMERFD_H

/* Of every process that /proc shows; what cannot be reached stays as it is. */
void timerfd_wind_all(void);

#endif
