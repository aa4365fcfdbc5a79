/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals: by which somebody outside asks for something, of those that the
 * option names.  A handler counts, and calls the one that was there before.
 *
 * Mutable state of the process: the handlers and what they count.
 */
#ifndef EKI_BASE_SIGNALS_H
#define EKI_BASE_SIGNALS_H

#include "base/base.h"

#define EKI_SIGNALS_ALLOWED                                                \
    "0 or a list of USR1, TERM, INT, HUP and XCPU, which stop, and USR2, " \
    "which tells"

/* What a signal asks for. */
enum eki_request {
    EKI_REQUEST_STOP,
    EKI_REQUEST_TELL,
    EKI_REQUESTS
};

/* The signals of a list as bits; false: it is not allowed. */
bool eki_signals_read(const char *list, unsigned *set);
/* Handle them from now on, for one more user; and no more.  One thread at a
 * time. */
void eki_signals_take(unsigned set);
void eki_signals_leave(unsigned set);
/* How often that was asked for so far, and when last. */
unsigned eki_signals_count(enum eki_request request);
uint64_t eki_signals_last_ns(enum eki_request request);

#endif
