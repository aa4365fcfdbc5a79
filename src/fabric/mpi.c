/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Life of the MPI fabric, and its messages.
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
 * a slot, and messages_close() completes those that are left.
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

static int slot_of(const struct eki_mpi *mpi, const unsigned char *buffers,
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

static struct eki_message *mpi_reserve(struct eki_fabric *fabric)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    if (fabric->failed != EK_OK)
        return NULL;
    reap_oldest(mpi);
    if (mpi->free_count == 0)
        reap_all(mpi);
    if (mpi->free_count == 0)
        return NULL;
    struct eki_message *message =
        message_at(mpi, mpi->send_buffers, mpi->free_sends[--mpi->free_count]);
    /* What the last message left in a field must not be sent. */
    memset(&message->head, 0, sizeof message->head);
    return message;
}

static void mpi_unreserve(struct eki_fabric *fabric,
                          struct eki_message *message)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    free_send(mpi, slot_of(mpi, mpi->send_buffers, message));
}

/* A fabric that has failed drops the message: whoever posted it learns of the
 * failure from base.failed. */
static void mpi_post(struct eki_fabric *fabric, struct eki_message *message,
                     int rank)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    int slot = slot_of(mpi, mpi->send_buffers, message);
    struct eki_head *head = &message->head;
    head->magic = EKI_MESSAGE_MAGIC;
    head->version = EKI_MESSAGE_VERSION;
    head->collection = fabric->collection;
    head->source = fabric->rank;
    EKI_ASSERT(head->bytes >= 0 &&
               (size_t)head->bytes <= fabric->message_bytes - sizeof *head);
    if (fabric->failed != EK_OK) {
        free_send(mpi, slot);
        return;
    }
    /* It fits an int, because message_bytes does. */
    int count = (int)((int64_t)sizeof *head + head->bytes);
    int code = MPI_Isend(message, count, MPI_BYTE, rank, EKI_TAG_MESSAGE,
                         mpi->comm, &mpi->sends[slot]);
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

/* Whether a message of COUNT bytes from SOURCE is what its head says; the first
 * that is not is kept in words. */
static bool is_sound(struct eki_mpi *mpi, const struct eki_message *message,
                     size_t count, int source)
{
    struct eki_fabric *fabric = &mpi->base;
    char why[200];
    if (eki_head_check(&message->head, count, fabric->collection, fabric->size,
                       why, sizeof why)) {
        if (message->head.source == source)
            return true;
        snprintf(why, sizeof why, "it says it comes from rank %" PRId32,
                 message->head.source);
    }
    if (!fabric->has_refused)
        snprintf(fabric->failure, sizeof fabric->failure,
                 "bad message from rank %d: %.200s", source, why);
    fabric->has_refused = true;
    return false;
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
    struct eki_message *message = message_at(mpi, mpi->receive_buffers, slot);
    if (is_sound(mpi, message, (size_t)count, status.MPI_SOURCE))
        return message;
    start_receive(mpi, slot);
    return NULL;
}

static void mpi_release(struct eki_fabric *fabric, struct eki_message *message)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    if (fabric->failed == EK_OK && !mpi->has_settled)
        start_receive(mpi, slot_of(mpi, mpi->receive_buffers, message));
}

static const struct eki_fabric_ops mpi_ops = {
    .reserve = mpi_reserve,
    .unreserve = mpi_unreserve,
    .post = mpi_post,
    .poll = mpi_poll,
    .release = mpi_release,
    .drain = mpi_drain,
};

size_t eki_fabric_mpi_message_bytes(const struct eki_fabric *fabric)
{
    return eki_fabric_mpi_is_one_host(fabric) ? EKI_MPI_SHARED_BYTES
                                              : EKI_MPI_NETWORK_BYTES;
}

/* Allocate the buffers of all slots; EK_ERR_NOMEM if there is no memory. */
static ek_status messages_allocate(struct eki_mpi *mpi, size_t message_bytes)
{
    if (message_bytes < sizeof(struct eki_head) || message_bytes > INT_MAX)
        return eki_error(EK_ERR_ARG,
                         "messages of %zu bytes, expected %zu ... %d",
                         message_bytes, sizeof(struct eki_head), INT_MAX);
    mpi->stride = (message_bytes + EKI_LINE - 1) / EKI_LINE * EKI_LINE;
    mpi->receive_buffers = eki_alloc_untouched(EKI_MPI_RECEIVES * mpi->stride);
    mpi->send_buffers = eki_alloc_untouched(EKI_MPI_SENDS * mpi->stride);
    if (mpi->receive_buffers && mpi->send_buffers)
        return EK_OK;
    eki_free(mpi->receive_buffers);
    eki_free(mpi->send_buffers);
    mpi->receive_buffers = mpi->send_buffers = NULL;
    return eki_error(EK_ERR_NOMEM, "no memory for %d messages of %zu bytes",
                     EKI_MPI_RECEIVES + EKI_MPI_SENDS, message_bytes);
}

ek_status eki_fabric_mpi_open(struct eki_fabric *fabric, size_t message_bytes)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    ek_status status;
    if (mpi->is_open)
        status = eki_error(EK_ERR_STATE, "the fabric is open already");
    else
        status = messages_allocate(mpi, message_bytes);
    EKI_TRY(eki_mpi_agree(mpi->comm, status));
    fabric->message_bytes = message_bytes;
    mpi->is_open = true; /* all ranks are, so that they close together */
    for (int slot = EKI_MPI_SENDS - 1; slot >= 0; slot--)
        free_send(mpi, slot);
    for (int slot = 0; slot < EKI_MPI_RECEIVES && status == EK_OK; slot++) {
        status = eki_mpi_check(
            mpi, "MPI_Recv_init",
            MPI_Recv_init(message_at(mpi, mpi->receive_buffers, slot),
                          (int)message_bytes, MPI_BYTE, MPI_ANY_SOURCE,
                          EKI_TAG_MESSAGE, mpi->comm, &mpi->receives[slot]));
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

void eki_fabric_mpi_settle(struct eki_fabric *fabric)
{
    struct eki_mpi *mpi = eki_mpi_of(fabric);
    if (!mpi->is_open || mpi->has_settled || eki_mpi_thread_level() < 0)
        return;
    mpi->has_settled = true;
    mpi->is_settled = messages_settle(mpi);
}

/* End all requests; false if MPI may still use the buffers. */
static bool messages_close(struct eki_mpi *mpi)
{
    eki_fabric_mpi_settle(&mpi->base);
    if (!mpi->is_settled)
        return false;
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

bool eki_mpi_is_finalized(void)
{
    int flag = 0;
    MPI_Finalized(&flag);
    return flag != 0;
}

int eki_mpi_thread_level(void)
{
    int flag = 0, level = MPI_THREAD_SINGLE;
    if (eki_mpi_is_finalized())
        return -2;
    MPI_Initialized(&flag);
    if (!flag)
        return -1;
    MPI_Query_thread(&level);
    if (level >= MPI_THREAD_MULTIPLE)
        return 3;
    if (level >= MPI_THREAD_SERIALIZED)
        return 2;
    return level >= MPI_THREAD_FUNNELED ? 1 : 0;
}

MPI_Comm eki_mpi_comm_of_fortran(MPI_Fint comm)
{
    return eki_mpi_thread_level() >= 0 ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}

void eki_mpi_abort(void)
{
    if (eki_mpi_thread_level() >= 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static int finalize_begins(MPI_Comm comm, int key, void *hook, void *context)
{
    (void)comm, (void)key, (void)context;
    ((const struct eki_finalize_hook *)hook)->call();
    return MPI_SUCCESS;
}

/* MPI_Finalize() deletes the attributes of MPI_COMM_SELF first. */
ek_status eki_mpi_at_finalize(const struct eki_finalize_hook *hook)
{
    int key = MPI_KEYVAL_INVALID;
    int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_begins,
                                      &key, NULL);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)hook);
    if (code != MPI_SUCCESS)
        return eki_error(EK_ERR_MPI, "MPI keeps no attribute of MPI_COMM_SELF");
    MPI_Comm_free_keyval(&key);
    return EK_OK;
}

void eki_mpi_ranks(MPI_Comm comm, int *rank, int *size)
{
    *rank = -1;
    *size = 0;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, rank);
    MPI_Comm_size(comm, size);
}

bool eki_mpi_is_main_thread(void)
{
    int is_main = 0;
    if (eki_mpi_thread_level() >= 0)
        MPI_Is_thread_main(&is_main);
    return is_main != 0;
}

void eki_mpi_library(char *text, size_t bytes)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    /* The first words of the first line, however they are parted. */
    for (const char *word = version; *word && *word != ',' && *word != '\n';) {
        int bytes_of_word = (int)strcspn(word, ", \t\n");
        eki_append(text, bytes, "%s%.*s", word == version ? "" : " ",
                   bytes_of_word, word);
        word += bytes_of_word;
        word += strspn(word, " \t");
    }
}

/* Make the object for the communicator OWN, with nothing in it that needs MPI
 * yet; NULL if there is no memory. */
static struct eki_mpi *make_fabric(MPI_Comm own)
{
    struct eki_mpi *mpi = eki_alloc(1, sizeof *mpi);
    if (!mpi)
        return NULL;
    mpi->base.ops = &mpi_ops;
    mpi->comm = own;
    MPI_Comm_rank(own, &mpi->base.rank);
    MPI_Comm_size(own, &mpi->base.size);
    mpi->host = mpi->node = MPI_COMM_NULL;
    mpi->window = MPI_WIN_NULL;
    for (int slot = 0; slot < EKI_MPI_RECEIVES; slot++)
        mpi->receives[slot] = MPI_REQUEST_NULL;
    for (int slot = 0; slot < EKI_MPI_SENDS; slot++)
        mpi->sends[slot] = MPI_REQUEST_NULL;
    /* The duplicate already keeps collections apart, so base.collection stays
     * 0 on every rank; a message with another number is a stray one. */
    mpi->nodes = eki_alloc((size_t)mpi->base.size, sizeof *mpi->nodes);
    mpi->sent = eki_alloc((size_t)mpi->base.size, sizeof *mpi->sent);
    if (mpi->nodes && mpi->sent)
        return mpi;
    eki_free(mpi->nodes);
    eki_free(mpi->sent);
    eki_free(mpi);
    return NULL;
}

/* Messages need a communicator that is not null and no intercommunicator. */
static ek_status check_comm(MPI_Comm comm)
{
    int level = eki_mpi_thread_level(), is_inter = 0;
    if (level < 0)
        return eki_error(EK_ERR_STATE, "MPI is %s",
                         level == -1 ? "not initialized" : "finalized");
    if (comm == MPI_COMM_NULL)
        return eki_error(EK_ERR_ARG, "the communicator is MPI_COMM_NULL");
    MPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return eki_error(EK_ERR_ARG, "the communicator is an "
                                     "intercommunicator");
    return EK_OK;
}

ek_status eki_fabric_mpi_create(MPI_Comm comm, int64_t ranks_per_node,
                                struct eki_fabric **fabric)
{
    *fabric = NULL;
    EKI_TRY(check_comm(comm));
    MPI_Comm own = MPI_COMM_NULL;
    int code = MPI_Comm_dup(comm, &own);
    if (code != MPI_SUCCESS)
        return eki_mpi_error("MPI_Comm_dup", code);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);

    ek_status status = EK_OK;
    struct eki_mpi *mpi = make_fabric(own);
    if (mpi)
        eki_abort_by(eki_mpi_abort, mpi->base.rank);
    if (!mpi)
        status = eki_error(EK_ERR_NOMEM, "no memory for the fabric");
    else if (ranks_per_node < 0)
        status = eki_error(EK_ERR_ARG,
                           "ranks_per_node %" PRId64 ", expected 0 or more",
                           ranks_per_node);
    status = eki_mpi_agree(own, status);
    if (status == EK_OK)
        status = eki_mpi_find_nodes(mpi, ranks_per_node);
    if (status == EK_OK) {
        *fabric = &mpi->base;
        return EK_OK;
    }
    struct eki_fabric *failed = mpi ? &mpi->base : NULL;
    if (failed)
        eki_fabric_mpi_destroy(&failed);
    else
        MPI_Comm_free(&own);
    return status;
}

void eki_fabric_mpi_destroy(struct eki_fabric **fabric)
{
    if (!fabric || !*fabric)
        return;
    struct eki_mpi *mpi = eki_mpi_of(*fabric);
    *fabric = NULL;
    bool is_settled = true;
    if (eki_mpi_thread_level() >= 0) {
        if (mpi->is_open)
            is_settled = messages_close(mpi);
        eki_mpi_leave_node(mpi);
        if (is_settled)
            MPI_Comm_free(&mpi->comm);
    }
    if (is_settled) {
        eki_free(mpi->receive_buffers);
        eki_free(mpi->send_buffers);
    }
    eki_free(mpi->local);
    eki_free(mpi->nodes);
    eki_free(mpi->sent);
    eki_free(mpi);
}
