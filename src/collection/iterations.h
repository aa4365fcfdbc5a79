/* SPDX-License-Identifier: BSD-3-Clause */
/* An iteration opens and closes, in process.c, for calls of all kinds. */
#ifndef EKI_ITERATIONS_H
#define EKI_ITERATIONS_H

#include "collection/collection.h"

/* Enter the phase even where the call is wrong, so that all ranks fail; but not
 * where this rank is behind, or nothing can be entered. */
ek_status eki_iteration_open(ek_collection *tasks, enum eki_called call,
                             const ek_process_report *report, ek_status status);
/* Leave the phase, and the iteration, unless that pauses: then it is saved, and
 * may be opened again. */
ek_status eki_iteration_close(ek_collection *tasks, ek_process_report *report);
/* After an iteration that could not be opened: the claim is given back. */
ek_status eki_iteration_not_opened(ek_collection *tasks, ek_status status);
/* Collect the report of an iteration that was left at LEFT, print it, and copy
 * it to REPORT, if any; collective. */
ek_status eki_iteration_report(ek_collection *tasks, uint64_t left,
                               ek_process_report *report);

#endif
