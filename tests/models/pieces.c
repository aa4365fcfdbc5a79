/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces: the ranks of a node, of which threads stand in for, leave a piece of
 * shared memory, agree on something and share the next one:
 * eki_fabric_mpi_unshare() against eki_fabric_mpi_share() (fabric/piece.c).  An
 * agreement of MPI is a barrier, which orders memory.
 *
 * LARGE: the piece has a window of its own, whose pages the system gets back.
 *
 * Mutant: UNAGREED: they share without having agreed that all have left.
 *
 * Checked: all take the same pages, the first, which all have left; a rank
 * finds zeroes that others have written, and the pages go when nobody is in
 * them.
 */
#define _DEFAULT_SOURCE
#include "weak.h"

#include "fabric/mpi_fabric.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#ifndef RANKS
#define RANKS 2
#endif
#ifndef REPEAT
#define REPEAT 1
#endif

enum {
#ifdef LARGE
    COUNT = 1, /* pages */
    PAGE_BYTES = 2 * EKI_MPI_OWN_WINDOW,
    BYTES = PAGE_BYTES
#else
    COUNT = 2 * RANKS, /* of which a piece takes half */
    PAGE_BYTES = EKI_MPI_PAGE,
    BYTES = RANKS * PAGE_BYTES - 1 /* each rank zeroes a page */
#endif
};

/* What the ranks share; of the pages a rank touches the first bytes. */
static _Atomic uint64_t left[COUNT];
static _Alignas(EKI_MPI_PAGE) unsigned char memory[COUNT * EKI_MPI_PAGE];
static _Atomic int came;    /* so many ranks to agreements */
static _Atomic int removed; /* so often the pages were */

#ifdef GENMC
#define W_OK 2
#define eki_error(status, ...) (status)

/* For a struct that is assigned. */
void *memcpy(void *to, const void *from, size_t bytes)
{
    struct eki_node_memory *piece = to;
    const struct eki_node_memory *other = from;
    assert(bytes == sizeof *piece);
    piece->memory = other->memory;
    piece->bytes = other->bytes;
    piece->window = other->window;
    piece->page = other->page;
    piece->is_optional = other->is_optional;
    return to;
}

/* The byte of a share that is looked at. */
#define memset(to, byte, bytes) (*(unsigned char *)(to) = (byte))
#endif

/* Whoever is in them would notice. */
static int remove_pages(const unsigned char *first)
{
    for (int rank = 0; rank < RANKS; rank++)
        assert(first[rank] == 1);
    /* relaxed: a count. */
    atomic_fetch_add_explicit(&removed, 1, memory_order_relaxed);
    return 0;
}

/* acq_rel, acquire: MPI's, which pair with each other. */
static ek_status agree(ek_status status)
{
    int before = atomic_fetch_add_explicit(&came, 1, memory_order_acq_rel);
    int all = (before / RANKS + 1) * RANKS;
    while (atomic_load_explicit(&came, memory_order_acquire) < all)
        model_wait();
    return status;
}

/* There is room: no rank needs one more window. */
static ek_status agree_most(ek_status status, const uint64_t *most)
{
    assert(*most == 0);
    return agree(status);
}

#define madvise(first, bytes, advice) remove_pages(first)
#define MPI_Win_sync(window) ((void)(window), MPI_SUCCESS)
#define eki_mpi_agree(comm, status) agree(status)
#define eki_mpi_agree_most(comm, status, most, n) agree_most(status, most)
#define eki_mpi_status(what, code) ((void)(what), (void)(code), EK_OK)
#define eki_mpi_thread_level() 0
#undef _DEFAULT_SOURCE
#include "fabric/piece.c"

static struct rank {
    struct eki_mpi mpi;
    struct eki_mpi_nodes nodes;
    struct eki_mpi_window window;
    struct eki_mpi_page pages[COUNT]; /* of the window */
    struct eki_node_memory piece;
} ranks[RANKS];

/* What a rank touches: LARGE, its own byte, else one that the next zeroes. */
static unsigned char *byte_of(const struct rank *rank)
{
    int number = rank->nodes.node_rank;
#ifndef LARGE
    number = (number + 1) % RANKS * PAGE_BYTES;
#endif
    return (unsigned char *)rank->piece.memory + number;
}

static void *live(void *context)
{
    struct rank *rank = context;
    *byte_of(rank) = 1;
    eki_fabric_mpi_unshare(&rank->piece);
#ifndef LARGE
#ifndef UNAGREED
    agree(EK_OK);
#endif
    ek_status status =
        eki_fabric_mpi_share(&rank->mpi.base, EK_OK, BYTES, &rank->piece);
    assert(status == EK_OK);
    assert(rank->piece.page == 0);
    assert(*byte_of(rank) == 0);
    *byte_of(rank) = 1;
    eki_fabric_mpi_unshare(&rank->piece);
#endif
    return NULL;
}

/* All are in the first piece. */
static void prepare_rank(struct rank *rank, int number)
{
    struct eki_mpi_window *window = &rank->window;
    rank->mpi.nodes = &rank->nodes;
    rank->nodes.node_rank = number;
    rank->nodes.node_size = RANKS;
    rank->nodes.windows = window;
    window->left = left;
    window->memory = memory;
    window->ranks = RANKS;
    window->page_bytes = PAGE_BYTES;
    window->count = window->touched = COUNT;
    window->pages[0].taken = 0;
    rank->piece.bytes = BYTES;
    bool is_taken = take_pages(window, &rank->piece);
    assert(is_taken);
}

/* relaxed, all: there is no other thread yet. */
static void prepare(void)
{
    atomic_store_explicit(&left[0], 0, memory_order_relaxed);
    atomic_store_explicit(&came, 0, memory_order_relaxed);
    atomic_store_explicit(&removed, 0, memory_order_relaxed);
    for (int r = 0; r < RANKS; r++)
        prepare_rank(&ranks[r], r);
}

static void check_left(void)
{
    for (int r = 0; r < RANKS; r++)
        assert(!is_used(&ranks[r].window, 0));
#ifdef LARGE
    assert(atomic_load_explicit(&removed, memory_order_relaxed) > 0);
#endif
}

int main(void)
{
    for (int i = 0; i < REPEAT; i++) {
        pthread_t ids[RANKS];
        int failed = 0;
        prepare();
        for (int r = 0; r < RANKS; r++)
            failed |= pthread_create(&ids[r], NULL, live, &ranks[r]);
        assert(!failed);
        for (int r = 0; r < RANKS; r++)
            pthread_join(ids[r], NULL);
        check_left();
    }
    return 0;
}
