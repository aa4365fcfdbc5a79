/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lifelines: whom a node without work waits for.  A node has few lifelines, and
 * tasks get from each node to each other one along them.
 *
 * Pure functions.  Paper: Saraswat, Kambadur, Kodali, Grove, Krishnamoorthy,
 * lifeline-based global load balancing, PPoPP 2011.  There the cyclic hypercube
 * is complete; where it is not, we go on to the next node that there is.
 */
#ifndef EKI_STEAL_LIFELINES_H
#define EKI_STEAL_LIFELINES_H

#include "base/options.h"

enum {
    EKI_LIFELINES_MOST = 31 /* binary digits of a node */
};

/* Fill VICTIMS, of EKI_LIFELINES_MOST, whom NODE of NODES asks, the first
 * first; each once, and not NODE.  Returns how many. */
int eki_lifelines(const struct eki_lifeline_option *option, int nodes, int node,
                  int *victims);

#endif
