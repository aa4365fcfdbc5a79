/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parcels over trees of ranks, so that no rank talks to more than a few: what
 * is gathered goes up in *sections*, which each rank joins to one parcel, or is
 * summed up (root.c); what is for everybody goes down in copies, and what is
 * for each goes down in sections again.
 *
 * While a relay awaits parts, its own and its children's come, each once; with
 * the last one all goes up, and it awaits nothing until eki_relay_expect().
 *
 * All ranks are one tree; each group is one, open from the target on.  A child
 * may have its target before: what comes too early waits (balancer.c).
 */
#ifndef EKI_REBALANCE_RELAY_H
#define EKI_REBALANCE_RELAY_H

#include "rebalance/balancer.h"

/* Children of a rank in a tree. */
#define EKI_BRANCHES 8

int eki_relay_children(const struct eki_relay *relay);
/* The parent of this rank, or itself. */
int eki_relay_above(const struct eki_relay *relay);
/* Which child of this rank RANK is, or hangs on; -1: none. */
int eki_relay_branch(const struct eki_relay *relay, int rank);
/* So many parts are to come. */
void eki_relay_expect(struct eki_relay *relay, int what, int parts);
/* A part comes from this rank, or once from a child, while it is awaited. */
bool eki_relay_hears(struct eki_relay *relay, const struct eki_decode *decode,
                     int what);

bool eki_relay_open_groups(struct eki_balancer *balancer);
void eki_relay_close(struct eki_relays *relays);
/* A part of what is gathered.  The top gets all as a parcel that is its own. */
eki_parcel_fn eki_relay_gather;
/* Copies to the children, and this rank takes it, too. */
eki_parcel_fn eki_relay_pass;
/* Sections for the children, and this rank's own as a parcel to itself. */
eki_parcel_fn eki_relay_split;
/* Whether the plans of all groups of this rank have passed. */
bool eki_relay_is_done(const struct eki_balancer *balancer);

#endif
