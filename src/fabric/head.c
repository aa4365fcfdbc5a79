/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trouble of a fabric, and the check of message headers.  No MPI and no state,
 * so it can be fuzzed and serves every implementation.
 */
#include "fabric/fabric.h"

#include <inttypes.h>
#include <stdarg.h>

void eki_fabric_note(struct eki_fabric *fabric, ek_status status,
                     const char *failure)
{
    fabric->troubles++;
    if (fabric->failed != EK_OK)
        return; /* the first failure explains the rest */
    fabric->failed = status;
    snprintf(fabric->failure, sizeof fabric->failure, "%.250s", failure);
}

/* Say what is wrong with a header; always false. */
static bool EKI_PRINTF(2, 3) head_is_bad(char *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, EKI_HEAD_WHY, format, arguments);
    va_end(arguments);
    return false;
}

/* Whether the message was meant for a client of this version. */
static bool head_is_ours(const struct eki_head *head, uint32_t numbers,
                         char *why)
{
    if (head->magic != EKI_MESSAGE_MAGIC)
        return head_is_bad(why, "magic number 0x%08" PRIx32 ", expected 0x%08x",
                           head->magic, EKI_MESSAGE_MAGIC);
    if (head->version != EKI_MESSAGE_VERSION)
        return head_is_bad(why,
                           "message version %d, expected %d: do all ranks run "
                           "the same library?",
                           (int)head->version, EKI_MESSAGE_VERSION);
    if (head->collection >= numbers)
        return head_is_bad(
            why, "collection %" PRIu32 ", expected less than %" PRIu32,
            head->collection, numbers);
    return true;
}

bool eki_head_check(const struct eki_head *head, size_t received_bytes,
                    uint32_t numbers, int size, char why[EKI_HEAD_WHY])
{
    /* The length comes first: nothing may be read from a shorter message. */
    if (received_bytes < sizeof *head)
        return head_is_bad(why, "%zu bytes, shorter than a header of %zu",
                           received_bytes, sizeof *head);
    if (!head_is_ours(head, numbers, why))
        return false;
    if (head->kind == 0)
        return head_is_bad(why, "kind 0, which no message has");
    if (head->source < 0 || head->source >= size)
        return head_is_bad(why, "source %" PRId32 ", expected 0 ... %d",
                           head->source, size - 1);
    if (head->count < 0)
        return head_is_bad(why, "negative count %" PRId64, head->count);
    /* As uint64_t, a negative length is too large as well. */
    if ((uint64_t)head->bytes != received_bytes - sizeof *head)
        return head_is_bad(why,
                           "body of %" PRId64 " bytes announced, %zu received",
                           head->bytes, received_bytes - sizeof *head);
    return true;
}
