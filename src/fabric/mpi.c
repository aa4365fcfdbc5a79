/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of the MPI fabric.
 *
 * Arrivals: persistent receives from any source.  MPI matches them in the
 * order in which they were started, so the oldest completes first and only it
 * is tested: MPI_Test sees a message in one call, where MPI_Iprobe and
 * MPI_Testsome of Open MPI 4.1 need two.  It also keeps the order per pair.
 *
 * Departures: a pool of buffers; completion is looked for when the next buffer
 * is wanted.
 *
 * Nothing of the table blocks.  One thread at a time.  Every request belongs to
 * a slot, and eki_mpi_close() completes those that are left.
 */
#include "fabric/mpi_fabric.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* How long destroy waits for messages that others say they sent. */
#define CLOSE_WAIT_NS UINT64_C(10000000000)

static void queue_push(struct eki_mpi_queue *queue, int slot)
{
    EKI_ASSERT(queue->count < EKI_MPI_SENDS);
    queue->slots[(queue->first + queue->count) % EKI_MPI_SENDS] = slot;
    queue->count++;
}

static int queue_first(const struct eki_mpi_queue *queue)
{
    EKI_ASSERT(queue->count > 0);
    return queue->slots[queue->first];
}

static int queue_pop(struct eki_mpi_queue *queue)
{
    int slot = queue_first(queue);
    queue->first = (queue->first + 1) % EKI_MPI_SENDS;
    queue->count--;
    return slot;
}

static struct eki_message *message_at(const struct eki_mpi *mpi,
                                      unsigned char *buffers, int slot)
{
    return (struct eki_message *)(buffers + (size_t)slot * mpi->stride);
}

static int slot_of_message(const struct eki_mpi *mpi,
                           const unsigned char *buffers,
                           const struct eki_message *message)
{
    size_t offset = (size_t)((const unsigned char *)message - buffers);
    EKI_ASSERT(offset % mpi->stride == 0);
    return (int)(offset / mpi->stride);
}

static void free_send(struct eki_mpi *mpi, int slot)
{
    EKI_ASSERT(mpi->free_count < EKI_MPI_SENDS);
    mpi->free_sends[mpi->free_count++] = slot;
}

/* Free the oldest buffers that have left, up to the first that has not. */
static void reap_oldest(struct eki_mpi *mpi)
{
    while (mpi->flying.count > 0) {
        int slot = queue_first(&mpi->flying), is_done = 0;
        int code = MPI_Test(&mpi->sends[slot], &is_done, MPI_STATUS_IGNORE);
        if (eki_mpi_check(mpi, "MPI_Test of a send", code) != EK_OK || !is_done)
            return;
        queue_pop(&mpi->flying);
        free_send(mpi, slot);
    }
}

/* Free every buffer that has left: the oldest may be on its way to a rank that
 * computes for long, and must not hold up messages to all others. */
static void reap_all(struct eki_mpi *mpi)
{
    int done = 0, indices[EKI_MPI_SENDS];
    int code = MPI_Testsome(EKI_MPI_SENDS, mpi->sends, &done, indices,
                            MPI_STATUSES_IGNORE);
    if (eki_mpi_check(mpi, "MPI_Testsome of the sends", code) != EK_OK)
        return;
    for (int left = mpi->flying.count; left > 0; left--) {
        int slot = queue_pop(&mpi->flying);
        if (mpi->sends[slot] == MPI_REQUEST_NULL)
            free_send(mpi, slot);
        else
            queue_push(&mpi->flying, slot);
    }
}

/* Whether more than so many buffers are free. */
static bool has_free(struct eki_mpi *mpi, int others)
{
    reap_oldest(mpi);
    if (mpi->free_count <= others)
        reap_all(mpi);
    return mpi->free_count > others;
}

static bool mpi_has_spare(struct eki_fabric *fabric)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    return (mpi->free_count > EKI_MPI_SPARE ||
            (fabric->failed == EK_OK && has_free(mpi, EKI_MPI_SPARE))) &&
           eki_mpi_has_locker(mpi);
}

static struct eki_message *mpi_reserve(struct eki_fabric *fabric)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    if (fabric->failed != EK_OK || !has_free(mpi, 0))
        return NULL;
    struct eki_message *message =
        message_at(mpi, mpi->send_buffers, mpi->free_sends[--mpi->free_count]);
    /* What the last message left in a field must not be sent. */
    memset(&message->head, 0, sizeof message->head);
    return message;
}

/* A fabric that has failed drops the message: whoever posted it learns of the
 * failure from base.failed. */
static void mpi_post(struct eki_fabric *fabric, struct eki_message *message,
                     int rank)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    int slot = slot_of_message(mpi, mpi->send_buffers, message);
    struct eki_head *head = &message->head;
    head->magic = EKI_MESSAGE_MAGIC;
    head->version = EKI_MESSAGE_VERSION;
    head->source = fabric->rank;
    EKI_ASSERT(head->bytes >= 0 &&
               (size_t)head->bytes <= fabric->message_bytes - sizeof *head);
    if (fabric->failed != EK_OK) {
        free_send(mpi, slot);
        return;
    }
    /* It fits an int, because message_bytes does. */
    int count = (int)((int64_t)sizeof *head + head->bytes);
    if (count > EKI_LATE_BYTES && eki_mpi_lock_up(mpi, message, rank))
        count = sizeof(struct eki_locker_note);
    int code = MPI_Isend(message, count, MPI_BYTE, rank, mpi->tag, mpi->comm,
                         &mpi->sends[slot]);
    if (eki_mpi_check(mpi, "MPI_Isend", code) != EK_OK) {
        mpi->sends[slot] = MPI_REQUEST_NULL;
        free_send(mpi, slot);
        return;
    }
    mpi->sent[rank]++;
    queue_push(&mpi->flying, slot);
}

static bool mpi_drain(struct eki_fabric *fabric)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    reap_oldest(mpi);
    return mpi->flying.count == 0;
}

/* Slot of the oldest receive if its message is there, else -1. */
static int take_arrival(struct eki_mpi *mpi, MPI_Status *status)
{
    if (mpi->posted.count == 0)
        return -1;
    int slot = queue_first(&mpi->posted), is_there = 0;
    int code = MPI_Test(&mpi->receives[slot], &is_there, status);
    /* A message that is too long has arrived all the same. */
    eki_mpi_check(mpi, "MPI_Test of a receive", code);
    if (!is_there)
        return -1;
    mpi->received++;
    return queue_pop(&mpi->posted);
}

static void start_receive(struct eki_mpi *mpi, int slot)
{
    int code = MPI_Start(&mpi->receives[slot]);
    if (eki_mpi_check(mpi, "MPI_Start of a receive", code) == EK_OK)
        queue_push(&mpi->posted, slot);
}

/* Whether a message of COUNT bytes from SOURCE is what its head says; else that
 * is noted. */
static bool is_sound(struct eki_mpi *mpi, const struct eki_message *message,
                     size_t count, int source)
{
    struct eki_fabric *fabric = &mpi->base;
    char why[EKI_HEAD_WHY], text[256];
    /* relaxed: whoever sent it has been given its number with this rank. */
    uint32_t numbers =
        atomic_load_explicit(&fabric->numbers, memory_order_relaxed);
    if (eki_head_check(&message->head, count, numbers, fabric->size, why)) {
        if (message->head.source == source)
            return true;
        snprintf(why, sizeof why, "its header names rank %" PRId32,
                 message->head.source);
    }
    snprintf(text, sizeof text, "bad message from rank %d: %.200s", source,
             why);
    eki_fabric_note(fabric, EK_OK, text);
    return false;
}

static void mpi_release(struct eki_fabric *fabric, struct eki_message *message)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    if (!eki_mpi_vacate(mpi, message) && fabric->failed == EK_OK &&
        !mpi->has_settled)
        start_receive(mpi, slot_of_message(mpi, mpi->receive_buffers, message));
}

/* A message that is damaged or stray is dropped: nobody could tell what it was
 * to change. */
static struct eki_message *mpi_poll(struct eki_fabric *fabric)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    if (fabric->failed != EK_OK)
        return NULL;
    MPI_Status status;
    int slot = take_arrival(mpi, &status);
    if (slot < 0 || fabric->failed != EK_OK)
        return NULL;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    size_t bytes = (size_t)count;
    struct eki_message *message = message_at(mpi, mpi->receive_buffers, slot);
    struct eki_message *locked = eki_mpi_unlock(mpi, message, &bytes);
    if (locked) {
        start_receive(mpi, slot); /* its note has been read */
        message = locked;
    }
    if (is_sound(mpi, message, bytes, status.MPI_SOURCE))
        return message;
    mpi_release(fabric, message);
    return NULL;
}

const struct eki_fabric_ops eki_mpi_ops = {
    .reserve = mpi_reserve,
    .has_spare = mpi_has_spare,
    .post = mpi_post,
    .poll = mpi_poll,
    .release = mpi_release,
    .drain = mpi_drain,
};

/* Allocate the buffers of all slots; EK_ERR_NOMEM if there is no memory. */
static ek_status messages_allocate(struct eki_mpi *mpi, size_t message_bytes)
{
    if (message_bytes < sizeof(struct eki_head) || message_bytes > INT_MAX)
        return eki_error(EK_ERR_ARG,
                         "messages of %zu bytes, expected %zu ... %d",
                         message_bytes, sizeof(struct eki_head), INT_MAX);
    mpi->stride = (message_bytes + EKI_LINE - 1) / EKI_LINE * EKI_LINE;
    const int room = EKI_MPI_RECEIVES + EKI_MPI_SENDS;
    mpi->receive_buffers = eki_alloc_untouched((size_t)room * mpi->stride);
    if (!mpi->receive_buffers)
        return eki_error(EK_ERR_NOMEM, "no memory for %d messages of %zu bytes",
                         room, message_bytes);
    mpi->send_buffers = mpi->receive_buffers + EKI_MPI_RECEIVES * mpi->stride;
    return EK_OK;
}

ek_status eki_mpi_open(struct eki_mpi *mpi, size_t message_bytes)
{
    struct eki_fabric *fabric = &mpi->base;
    ek_status status = messages_allocate(mpi, message_bytes);
    EKI_TRY(eki_mpi_agree(mpi->comm, status));
    fabric->message_bytes = message_bytes;
    mpi->is_open = true; /* all ranks are, so that they close together */
    for (int slot = EKI_MPI_SENDS - 1; slot >= 0; slot--)
        free_send(mpi, slot);
    for (int slot = 0; slot < EKI_MPI_RECEIVES && status == EK_OK; slot++) {
        status = EKI_MPI_OF(mpi, MPI_Recv_init,
                            message_at(mpi, mpi->receive_buffers, slot),
                            (int)message_bytes, MPI_BYTE, MPI_ANY_SOURCE,
                            mpi->tag, mpi->comm, &mpi->receives[slot]);
        if (status == EK_OK)
            start_receive(mpi, slot);
        status = fabric->failed;
    }
    return eki_mpi_agree(mpi->comm, status);
}

/* Post again the receives whose messages were polled and never released. */
static void restart_handed_out(struct eki_mpi *mpi)
{
    bool is_posted[EKI_MPI_RECEIVES] = {false};
    for (int i = 0; i < mpi->posted.count; i++)
        is_posted[mpi->posted.slots[(mpi->posted.first + i) % EKI_MPI_SENDS]] =
            true;
    for (int slot = 0; slot < EKI_MPI_RECEIVES; slot++)
        if (!is_posted[slot] && mpi->receives[slot] != MPI_REQUEST_NULL)
            start_receive(mpi, slot);
}

/*
 * Receive and drop until all that was ever sent to me has arrived and my own
 * sends are complete.  A message must not outlive its communicator: MPI gives
 * the next one the same number and would deliver it there.  The wait is
 * bounded; false if messages are lost.
 */
static bool messages_settle(struct eki_mpi *mpi)
{
    restart_handed_out(mpi);
    int64_t expected = 0;
    MPI_Request request;
    /* Each rank is told how many messages all have sent to it.  The call does
     * not block, because others may need the receives of this rank before they
     * can come here. */
    int code = MPI_Ireduce_scatter_block(mpi->sent, &expected, 1, MPI_INT64_T,
                                         MPI_SUM, mpi->comm, &request);
    uint64_t deadline = 0; /* there is none before all ranks are here */
    while (code == MPI_SUCCESS) {
        MPI_Status status;
        int slot = take_arrival(mpi, &status);
        if (slot >= 0)
            start_receive(mpi, slot);
        else
            eki_yield(); /* the sender may need this core */
        reap_oldest(mpi);
        int is_known = request == MPI_REQUEST_NULL;
        if (!is_known)
            code = MPI_Test(&request, &is_known, MPI_STATUS_IGNORE);
        if (!is_known || code != MPI_SUCCESS)
            continue;
        if (mpi->received >= expected && mpi->flying.count == 0)
            return true;
        if (deadline == 0)
            deadline = eki_clock_system_ns() + CLOSE_WAIT_NS;
        else if (eki_clock_system_ns() > deadline)
            break;
    }
    eki_log(EK_LEVEL_WARN, mpi->base.rank, mpi->base.size, "fabric",
            "%" PRId64 " of %" PRId64 " messages arrived, %d sends incomplete; "
            "their memory is not freed",
            mpi->received, expected, mpi->flying.count);
    return false;
}

void eki_mpi_settle(struct eki_mpi *mpi)
{
    if (!mpi->is_open || mpi->has_settled)
        return;
    mpi->has_settled = true;
    mpi->is_settled = messages_settle(mpi);
}

bool eki_mpi_close(struct eki_mpi *mpi)
{
    eki_mpi_settle(mpi);
    if (!mpi->is_settled)
        return !mpi->is_open;
    while (mpi->posted.count > 0) {
        MPI_Request *request = &mpi->receives[queue_pop(&mpi->posted)];
        MPI_Cancel(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    for (int slot = 0; slot < EKI_MPI_RECEIVES; slot++)
        if (mpi->receives[slot] != MPI_REQUEST_NULL)
            MPI_Request_free(&mpi->receives[slot]);
    return true;
}
