/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lockers: long messages between ranks of a host lie in memory that the host
 * shares.  MPI carries a note that says where, which it sends at once.  Without
 * them both sides would have to be in MPI again and again while it copies.
 *
 * A locker is a line with the number of its message, and the message.  The
 * owner fills it while its number is 0; who has the note empties it.  All pages
 * are touched when the lockers are made: there is room for them.  They leave as
 * much to collections, which cannot do without theirs.
 */
#include "fabric/mpi_fabric.h"

#include <string.h>

/* Number of the message in the locker at PLACE; 0: it is empty. */
static _Atomic uint64_t *locker_at(const struct eki_mpi_lockers *lockers,
                                   size_t place)
{
    unsigned char *memory = lockers->memory.memory;
    return (_Atomic uint64_t *)(void *)(memory + place * lockers->stride);
}

static struct eki_message *message_in(_Atomic uint64_t *locker)
{
    return (struct eki_message *)((unsigned char *)(void *)locker + EKI_LINE);
}

/* Whether any two ranks share a host. */
static bool is_host_shared(const struct eki_mpi_nodes *hosts, int size)
{
    int most = 0;
    for (int rank = 0; rank < size; rank++)
        most = hosts->of_rank[rank] > most ? hosts->of_rank[rank] : most;
    return most + 1 < size;
}

ek_status eki_mpi_open_lockers(struct eki_mpi *mpi)
{
    struct eki_mpi_lockers *lockers = &mpi->lockers;
    struct eki_mpi_nodes *hosts;
    if (mpi->base.message_bytes <= EKI_LATE_BYTES)
        return EK_OK;
    EKI_TRY(eki_mpi_find_nodes(mpi->set, 0, &hosts));
    if (!is_host_shared(hosts, mpi->base.size))
        return EK_OK;
    lockers->stride = EKI_LINE + mpi->stride;
    lockers->room = (int)(EKI_MPI_LOCKER_BYTES / lockers->stride);
    if (lockers->room < EKI_MPI_LOCKERS_LEAST)
        lockers->room = EKI_MPI_LOCKERS_LEAST;
    bool is_alone = hosts->node_size == 1;
    size_t ranks = (size_t)hosts->node_size * !is_alone;
    lockers->memory = (struct eki_node_memory){
        .bytes = EKI_LINE + ranks * (size_t)lockers->room * lockers->stride,
        .is_optional = true,
        .is_modest = true};
    ek_status status = eki_mpi_share(hosts, EK_OK, &lockers->memory);
    if (status == EK_OK && !is_alone)
        lockers->hosts = hosts;
    return status == EK_ERR_NOMEM ? EK_OK : status;
}

/* The own locker that is looked at next. */
static size_t next_locker(const struct eki_mpi_lockers *lockers)
{
    return (size_t)lockers->hosts->node_rank * (size_t)lockers->room +
           (size_t)lockers->next;
}

bool eki_mpi_has_locker(struct eki_mpi *mpi)
{
    struct eki_mpi_lockers *lockers = &mpi->lockers;
    for (int i = 0; lockers->hosts && i < lockers->room; i++) {
        /* acquire: pairs with the release in eki_mpi_vacate(): who had the
         * message does not read it any more. */
        if (atomic_load_explicit(locker_at(lockers, next_locker(lockers)),
                                 memory_order_acquire) == 0)
            return true;
        lockers->next = (lockers->next + 1) % lockers->room;
    }
    return !lockers->hosts;
}

bool eki_mpi_lock_up(struct eki_mpi *mpi, struct eki_message *message, int rank)
{
    struct eki_mpi_lockers *lockers = &mpi->lockers;
    const struct eki_mpi_nodes *hosts = lockers->hosts;
    size_t bytes = sizeof *message + (size_t)message->head.bytes;
    if (!hosts || rank < 0 || rank >= mpi->base.size ||
        hosts->of_rank[rank] != hosts->of_rank[mpi->base.rank] ||
        !eki_mpi_has_locker(mpi))
        return false;
    const struct eki_locker_note note = {.number = ++lockers->number,
                                         .place =
                                             (uint32_t)next_locker(lockers),
                                         .bytes = (uint32_t)bytes};
    _Atomic uint64_t *locker = locker_at(lockers, note.place);
    memcpy(message_in(locker), message, bytes);
    /* release: pairs with the acquire in eki_mpi_unlock(): the message. */
    atomic_store_explicit(locker, note.number, memory_order_release);
    memcpy(message, &note, sizeof note);
    return true;
}

struct eki_message *eki_mpi_unlock(const struct eki_mpi *mpi, const void *from,
                                   size_t *bytes)
{
    const struct eki_mpi_lockers *lockers = &mpi->lockers;
    struct eki_locker_note note;
    if (!lockers->hosts || *bytes != sizeof note)
        return NULL;
    memcpy(&note, from, sizeof note);
    size_t places = (size_t)lockers->hosts->node_size * (size_t)lockers->room;
    if (note.place >= places || note.bytes > mpi->base.message_bytes)
        return NULL;
    _Atomic uint64_t *locker = locker_at(lockers, note.place);
    /* acquire: pairs with the release in eki_mpi_lock_up(): the message. */
    if (note.number == 0 ||
        atomic_load_explicit(locker, memory_order_acquire) != note.number)
        return NULL;
    *bytes = note.bytes;
    return message_in(locker);
}

bool eki_mpi_vacate(const struct eki_mpi *mpi, struct eki_message *message)
{
    const struct eki_mpi_lockers *lockers = &mpi->lockers;
    uintptr_t first = (uintptr_t)lockers->memory.memory;
    if (!lockers->hosts || (uintptr_t)message < first ||
        (uintptr_t)message >= first + lockers->memory.bytes)
        return false;
    /* release: pairs with the acquire in eki_mpi_has_locker(): what was read.
     */
    atomic_store_explicit(
        (_Atomic uint64_t *)(void *)((unsigned char *)message - EKI_LINE), 0,
        memory_order_release);
    return true;
}
