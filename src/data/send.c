/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages with bytes behind words. */
#include "data/internal.h"

int64_t eki_data_carried_bytes(const struct eki_engine *engine,
                               const struct eki_head *head)
{
    bool carries =
        head->kind == EKI_KIND_INPUT ||
        (head->kind == EKI_KIND_RESULT && head->detail != EKI_RESULT_LONG);
    return carries && !eki_data_of(engine)->setup.has_bytes ? head->count : 0;
}

/* Bytes that fit a message behind WORDS. */
int64_t eki_data_room(const struct eki_data *data, int64_t words)
{
    return eki_message_room(data->protocol.engine->fabric) - words;
}

/* Whether a message of a long row of them, which is full, or another one may
 * go.  To find no buffer takes as long as there are buffers: once a step is
 * enough. */
static bool may_reserve(struct eki_data *data, bool is_full)
{
    if (is_full && !data->lacks_spare && !data->lacks_any)
        data->lacks_spare =
            !eki_fabric_has_spare(data->protocol.engine->fabric);
    return !data->lacks_any && !(is_full && data->lacks_spare);
}

/* A message with WORDS before COUNT bytes of DATA; NULL: no buffer. */
struct eki_message *eki_data_reserve(struct eki_data *data, int kind,
                                     int64_t words, int64_t count)
{
    bool is_full = count > 0 && count == eki_data_room(data, words);
    if (!may_reserve(data, is_full))
        return NULL;
    struct eki_message *message =
        eki_server_reserve(data->protocol.engine, kind);
    data->lacks_any = !message;
    if (!message)
        return NULL;
    message->head.count = count;
    message->head.bytes = words + (data->setup.has_bytes ? count : 0);
    return message;
}

void eki_data_post(struct eki_data *data, struct eki_message *message,
                   int worker, uint32_t op, int rank)
{
    message->head.worker = worker;
    message->head.first = op;
    eki_server_post(data->protocol.engine, message, rank);
}

void eki_data_copy(const struct eki_data *data, struct eki_message *message,
                   int64_t words, const unsigned char *from)
{
    if (data->setup.has_bytes && message->head.count > 0)
        memcpy(message->body + words, from, (size_t)message->head.count);
}

/* A part of something long has come or gone. */
void eki_data_note_part(struct eki_data *data, bool more_follows)
{
    data->protocol.engine->post.streamed += more_follows;
}
