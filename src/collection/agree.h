/* SPDX-License-Identifier: BSD-3-Clause */
/* What must be the same on all ranks, and the words where it is not. */
#ifndef EKI_COLLECTION_AGREE_H
#define EKI_COLLECTION_AGREE_H

#include "base/options.h"
#include "collection/calls.h"

/* A hash of the options that must be the same on all ranks. */
uint64_t eki_options_hash(const struct eki_settings *settings);
/* Find the first option in which ranks differ; collective. */
ek_status eki_options_compare(struct eki_fabric *fabric,
                              const struct eki_settings *settings);
/* Note a call that must be made alike on all ranks, with the VALUE of its
 * argument, or -1. */
void eki_collection_note(ek_collection *tasks, enum eki_call call,
                         int64_t value);
/* Hash of everything that must be the same on all ranks. */
uint64_t eki_collection_signature(const ek_collection *tasks);
/* That a rank stopped fetching is no error where nothing was left to cancel, or
 * a task has called ek_stop(), of which the rank may not have heard; otherwise
 * the error's text tells how many tasks were cancelled.  Collective where this
 * is the error of the phase; else it does nothing. */
void eki_collection_excuse(const ek_collection *tasks, struct eki_error *error);
/* Turn the error of a phase into status and message; collective. */
ek_status eki_collection_error(ek_collection *tasks,
                               const struct eki_error *error);

#endif
