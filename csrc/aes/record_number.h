/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequence numbers of a record cipher: each is given out once, whatever the number of threads,
 * and none in a forked child, which would give out its parent's numbers again.
 */
#ifndef FC_AES_RECORD_NUMBER_H
#define FC_AES_RECORD_NUMBER_H

#include "kernels.h"

struct fc_record_numbers {
  uint64_t next;       /* atomic; FC_NUMBERS_USED_UP is never given out */
  uint64_t generation; /* of the process that it was made in */
};

#define FC_NUMBERS_USED_UP UINT64_MAX

enum fc_take_result { FC_TAKE_DONE, FC_TAKE_LOST, FC_TAKE_FORKED };

/*
 * Have forks noticed from now on. Once per process; later calls do nothing. Before the first call of
 * fc_record_numbers_init. 0, or an error number.
 */
FC_HIDDEN int fc_watch_forks(void);

FC_HIDDEN void fc_record_numbers_init(struct fc_record_numbers *numbers);

/* The next number, not yet taken, or FC_NUMBERS_USED_UP. */
FC_HIDDEN uint64_t fc_record_numbers_peek(const struct fc_record_numbers *numbers);

/*
 * Take the number that peek has returned: FC_TAKE_DONE, and it is the caller's alone; FC_TAKE_LOST,
 * another thread was faster; FC_TAKE_FORKED, this process is a child of the one that made `numbers`.
 */
FC_HIDDEN enum fc_take_result fc_record_numbers_take(struct fc_record_numbers *numbers,
                                                     uint64_t number);

#endif
