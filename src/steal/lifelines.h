/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lifelines: whom a place without work waits for.  A place has few lifelines,
 * and tasks get from each place to each other one along them.
 *
 * Pure functions.  Paper: Saraswat, Kambadur, Kodali, Grove, Krishnamoorthy,
 * lifeline-based global load balancing, PPoPP 2011.  There the cyclic hypercube
 * is complete; where it is not, we go on to the next place that there is.
 */
#ifndef EKI_STEAL_LIFELINES_H
#define EKI_STEAL_LIFELINES_H

#include "base/options.h"

enum {
    EKI_LIFELINES_MOST = 31 /* binary digits of a place */
};

/* Fill VICTIMS, of EKI_LIFELINES_MOST, whom PLACE of PLACES asks, the first
 * first; each once, and not PLACE.  Returns how many. */
int eki_lifelines(const struct eki_lifeline_option *option, int places,
                  int place, int *victims);

#endif
