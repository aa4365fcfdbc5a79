/* SPDX-License-Identifier: BSD-3-Clause */
/* A cosine with the same result on every machine (base/exact.h). */
#ifndef COMMON_TURNS_H
#define COMMON_TURNS_H

/* cos(2 pi u) for u from 0 to 1, within 1 ulp. */
double cos_turns(double u);

#endif
