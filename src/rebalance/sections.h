/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sections: a parcel that is gathered from several, or for several, has a part
 * of each: of a rank (OFFER, OPENED, PLAN) or of a group (LEFT, GIVEN).
 */
#ifndef EKI_REBALANCE_SECTIONS_H
#define EKI_REBALANCE_SECTIONS_H

#include "engine/decode.h"
#include "rebalance/parcel.h"

/* The head of a part, whose body follows. */
struct eki_section {
    int64_t of;
    int64_t bytes; /* of the body; a multiple of 8 */
};

/* Whether a parcel is whole sections, each with a body of whole words. */
bool eki_sections_fit(const struct eki_decode *decode,
                      const struct eki_parcel *parcel);
/* The section after SECTION, or the first (NULL); NULL: none is left.  Whoever
 * calls knows that sections fit. */
const struct eki_section *eki_section_next(const struct eki_parcel *parcel,
                                           const struct eki_section *section);

/* A section of each of COUNT ranks or groups, which begin with FIRST. */
struct eki_heard {
    const char *one, *all; /* what one is, and several are, in words */
    int first, count;
    const struct eki_section **sections; /* [count], while a parcel is taken */
};

/* Whether a parcel has each section once, and no other; lists them. */
bool eki_sections_hear(const struct eki_decode *decode,
                       const struct eki_parcel *parcel,
                       struct eki_heard *heard);

/* What is dealt to several in two passes: first the bytes of each are counted,
 * then they are written, each after the last one of the same. */
struct eki_deal {
    int64_t *bytes;       /* [count] that each gets */
    unsigned char **ends; /* [count], where what comes next goes */
};

/* False: no memory; eki_deal_close() then, too. */
bool eki_deal_open(struct eki_deal *deal, int64_t count);
void eki_deal_close(struct eki_deal *deal);
/* Begin the section OF one at AT; returns where the next one begins. */
unsigned char *eki_deal_begin(struct eki_deal *deal, int of, unsigned char *at);

/* Room for BYTES more OF one. */
static inline void *eki_deal_put(struct eki_deal *deal, int of, size_t bytes)
{
    void *room = deal->ends[of];
    deal->ends[of] += bytes;
    return room;
}

#endif
