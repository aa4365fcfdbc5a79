/* SPDX-License-Identifier: BSD-3-Clause */
#include "rebalance/sections.h"

bool eki_sections_fit(const struct eki_decode *decode,
                      const struct eki_parcel *parcel)
{
    int64_t at = 0;
    while (at < parcel->bytes) {
        int64_t rest = parcel->bytes - at - (int64_t)sizeof(struct eki_section);
        const struct eki_section *section =
            (const struct eki_section *)(parcel->data + at);
        if (!eki_fits(decode, "bytes of a head", rest, 0, INT64_MAX) ||
            !eki_fits(decode, "bytes of a section", section->bytes, 0, rest) ||
            !eki_fits_one(decode, "part of a word", section->bytes % 8, 0))
            return false;
        at += (int64_t)sizeof *section + section->bytes;
    }
    return true;
}

const struct eki_section *eki_section_next(const struct eki_parcel *parcel,
                                           const struct eki_section *section)
{
    const unsigned char *at = parcel->data;
    if (section)
        at = (const unsigned char *)(section + 1) + section->bytes;
    return at < parcel->data + parcel->bytes ? (const struct eki_section *)at
                                             : NULL;
}

bool eki_sections_hear(const struct eki_decode *decode,
                       const struct eki_parcel *parcel, struct eki_heard *heard)
{
    const struct eki_section *at = NULL;
    int count = 0;
    memset(heard->sections, 0, (size_t)heard->count * sizeof *heard->sections);
    while ((at = eki_section_next(parcel, at)) != NULL) {
        int64_t i = at->of - heard->first;
        if (!eki_fits(decode, heard->one, i, 0, heard->count - 1) ||
            !eki_fits_one(decode, "parts before it", heard->sections[i] != NULL,
                          false))
            return false;
        heard->sections[i] = at;
        count++;
    }
    return eki_fits_one(decode, heard->all, count, heard->count);
}

bool eki_deal_open(struct eki_deal *deal, int64_t count)
{
    deal->bytes = eki_alloc((size_t)count, sizeof *deal->bytes);
    deal->ends = eki_alloc((size_t)count, sizeof *deal->ends);
    return deal->bytes && deal->ends;
}

void eki_deal_close(struct eki_deal *deal)
{
    eki_free(deal->bytes);
    eki_free(deal->ends);
}

unsigned char *eki_deal_begin(struct eki_deal *deal, int of, unsigned char *at)
{
    struct eki_section *section = (struct eki_section *)at;
    *section = (struct eki_section){of, deal->bytes[of]};
    deal->ends[of] = (unsigned char *)(section + 1);
    return deal->ends[of] + section->bytes;
}
