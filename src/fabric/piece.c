/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the ranks of a node share, in pieces.
 *
 * Windows are few, because each of them costs MPI a communicator: small pieces
 * lie in windows that grow by doubling, page by page, large ones in windows of
 * their own.  A piece is free when all ranks of the node have left it, which
 * they count in the window itself; nobody waits for that.
 *
 * All ranks choose the same piece without a word: they look while no rank can
 * leave any, between two calls that all ranks make together.  So no rank can be
 * in a piece that another zeroes, either.
 */
#define _DEFAULT_SOURCE /* MADV_REMOVE */
#include "fabric/mpi_fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

static size_t round_pages(size_t bytes)
{
    return (bytes + EKI_MPI_PAGE - 1) / EKI_MPI_PAGE * EKI_MPI_PAGE;
}

/* Of the window that PIECE lies in: a piece of one page, or small ones. */
static size_t page_bytes_of(const struct eki_node_memory *piece)
{
    return piece->bytes > EKI_MPI_OWN_WINDOW ? round_pages(piece->bytes)
                                             : EKI_MPI_PAGE;
}

static size_t table_bytes(size_t pages)
{
    return round_pages(pages * sizeof(uint64_t));
}

/* What a window for PIECE of BYTES takes of the mount: its table, room to align
 * it, and Open MPI's own page and state per rank, generously. */
static uint64_t window_need(const struct eki_mpi_nodes *nodes,
                            const struct eki_node_memory *piece, size_t bytes)
{
    return bytes + table_bytes(bytes / page_bytes_of(piece)) + EKI_LINE +
           65536 + 512 * (uint64_t)nodes->node_size;
}

/*
 * Without this check
 * Open MPI 4.1 fails on the lowest rank and leaves the others waiting, and
 * MPICH dies of SIGBUS.
 */
ek_status eki_mpi_check_mount(uint64_t need)
{
    const char *given = getenv("OMPI_MCA_osc_sm_backing_directory");
    bool is_given = given && given[0];
    const char *directory = is_given ? given : "/dev/shm";
    struct statvfs mount;
    if (statvfs(directory, &mount) != 0 || access(directory, W_OK) != 0) {
        /* Without a usable /dev/shm MPI looks for another place, which is
         * unknown here. */
        if (!is_given)
            return EK_OK;
        return eki_error(EK_ERR_NOMEM,
                         "shared memory cannot be made in %.200s, which "
                         "OMPI_MCA_osc_sm_backing_directory names: %s",
                         directory, strerror(errno));
    }
    uint64_t free_bytes = (uint64_t)mount.f_bavail * mount.f_frsize;
    if (need <= free_bytes)
        return EK_OK;
    return eki_error(EK_ERR_NOMEM,
                     "shared memory: %.200s has %" PRIu64
                     " bytes free, the ranks of this host need %" PRIu64
                     "; enlarge it (containers: --shm-size, else remount the "
                     "tmpfs with a larger size); or lower buffer_slots or "
                     "payload_bytes of collections",
                     directory, free_bytes, need);
}

/* Whether page AT of WINDOW is in use, or begins what is. */
static bool is_used(const struct eki_mpi_window *window, size_t at)
{
    /* acquire: pairs with the release in eki_fabric_mpi_unshare(): who has left
     * a piece does not touch it any more. */
    return atomic_load_explicit(&window->left[at], memory_order_acquire) !=
           window->pages[at].taken * window->ranks;
}

/* The first of COUNT free pages of WINDOW, or its count. */
static size_t find_pages(const struct eki_mpi_window *window, size_t count)
{
    size_t first = 0;
    for (size_t at = 0; at < window->count;) {
        if (is_used(window, at)) {
            at += window->pages[at].length;
            first = at;
        } else if (++at - first == count) {
            return first;
        }
    }
    return window->count;
}

/* Whether WINDOW is for one large piece. */
static bool is_own_window(const struct eki_mpi_window *window)
{
    return window->page_bytes != EKI_MPI_PAGE;
}

static bool take_pages(struct eki_mpi_window *window,
                       struct eki_node_memory *piece)
{
    size_t count = (piece->bytes + window->page_bytes - 1) / window->page_bytes;
    size_t first = find_pages(window, count);
    if (first == window->count)
        return false;
    window->pages[first].length = count;
    window->pages[first].taken++;
    piece->window = window;
    piece->page = first;
    piece->memory = window->memory + first * window->page_bytes;
    return true;
}

/* Take a small piece of what there is; false: there is none. */
static bool take_piece(const struct eki_mpi_nodes *nodes,
                       struct eki_node_memory *piece)
{
    struct eki_mpi_window *window = nodes->windows;
    if (page_bytes_of(piece) != EKI_MPI_PAGE)
        return false;
    while (window && (is_own_window(window) || !take_pages(window, piece)))
        window = window->next;
    return window != NULL;
}

/* Each rank zeroes its share, so that pages lie near the rank that uses them
 * when the caller lays the memory out in order of rank. */
static void zero_share(const struct eki_mpi_nodes *nodes,
                       const struct eki_node_memory *piece)
{
    size_t share = round_pages(piece->bytes / (size_t)nodes->node_size + 1);
    size_t first = share * (size_t)nodes->node_rank;
    if (first >= piece->bytes)
        return;
    size_t rest = piece->bytes - first;
    memset((unsigned char *)piece->memory + first, 0,
           rest < share ? rest : share);
}

/* Zero a piece that was taken, where the mount has room for what of it was
 * never touched. */
static ek_status prepare_piece(const struct eki_mpi_nodes *nodes,
                               const struct eki_node_memory *piece)
{
    struct eki_mpi_window *window = piece->window;
    size_t end = piece->page + window->pages[piece->page].length;
    if (end > window->touched) {
        /* All nodes of the host are about to do the same. */
        int on_host =
            (nodes->set->host_size + nodes->node_size - 1) / nodes->node_size;
        EKI_TRY(eki_mpi_check_mount((end - window->touched) *
                                    window->page_bytes * (uint64_t)on_host));
        window->touched = end;
    }
    zero_share(nodes, piece);
    return EKI_MPI(MPI_Win_sync, window->window);
}

static void free_window(struct eki_mpi_window *window, bool is_running)
{
    if (is_running) {
        MPI_Win_unlock_all(window->window);
        MPI_Win_free(&window->window);
    }
    eki_free(window);
}

void eki_mpi_free_windows(struct eki_mpi_nodes *nodes, bool is_running)
{
    while (nodes->windows) {
        struct eki_mpi_window *window = nodes->windows;
        nodes->windows = window->next;
        free_window(window, is_running);
    }
}

/* Free the windows of large pieces that nobody uses any more. */
static void free_unused(struct eki_mpi_nodes *nodes)
{
    struct eki_mpi_window **link = &nodes->windows;
    while (*link) {
        struct eki_mpi_window *window = *link;
        if (!is_own_window(window) || is_used(window, 0)) {
            link = &window->next;
            continue;
        }
        *link = window->next;
        free_window(window, true);
    }
}

/* What a window for PIECE should hold, at best. */
static size_t wanted_bytes(const struct eki_mpi_nodes *nodes,
                           const struct eki_node_memory *piece)
{
    size_t bytes = round_pages(piece->bytes), held = 0;
    if (page_bytes_of(piece) != EKI_MPI_PAGE)
        return bytes;
    for (struct eki_mpi_window *window = nodes->windows; window;
         window = window->next)
        held += is_own_window(window) ? 0 : window->count;
    held *= EKI_MPI_PAGE;
    if (held > EKI_MPI_WINDOW_MOST)
        held = EKI_MPI_WINDOW_MOST;
    return held > bytes ? held : bytes;
}

/* How large a window for PIECE is to be; without IS_NEEDED none is.  All nodes
 * of the host are asked, because they share the mount: *BYTES is what all can
 * have, at least what they need.  Collective over the host. */
static ek_status choose_size(const struct eki_mpi_nodes *nodes,
                             const struct eki_node_memory *piece,
                             bool is_needed, size_t *bytes)
{
    size_t least = round_pages(piece->bytes);
    uint64_t need[2] = {0};
    *bytes = wanted_bytes(nodes, piece);
    if (is_needed && nodes->node_rank == 0) {
        need[0] = window_need(nodes, piece, *bytes);
        need[1] = window_need(nodes, piece, least) << piece->is_modest;
    }
    EKI_TRY(EKI_MPI(MPI_Allreduce, MPI_IN_PLACE, need, 2, MPI_UINT64_T, MPI_SUM,
                    nodes->set->host));
    if (need[1] == 0 ||
        (*bytes > least && eki_mpi_check_mount(need[0]) == EK_OK))
        return EK_OK;
    *bytes = least;
    return eki_mpi_check_mount(need[1]);
}

/* What this rank knows of a window for PIECE, of as many bytes as the lowest
 * rank of the node has chosen; NULL: no memory. */
static ek_status open_window(const struct eki_mpi_nodes *nodes,
                             const struct eki_node_memory *piece, size_t bytes,
                             struct eki_mpi_window **made)
{
    uint64_t chosen = bytes;
    EKI_TRY(EKI_MPI(MPI_Bcast, &chosen, 1, MPI_UINT64_T, 0, nodes->node));
    size_t page_bytes = page_bytes_of(piece),
           count = (size_t)chosen / page_bytes;
    struct eki_mpi_window *window =
        eki_alloc(1, sizeof *window + count * sizeof *window->pages);
    *made = window;
    if (!window)
        return eki_error(EK_ERR_NOMEM, "no memory for a window");
    window->window = MPI_WIN_NULL;
    window->ranks = (uint64_t)nodes->node_size;
    window->page_bytes = page_bytes;
    window->count = count;
    return EK_OK;
}

/* Make the window; all of it belongs to the lowest rank: one piece without
 * gaps. */
static ek_status make_window(const struct eki_mpi_nodes *nodes,
                             struct eki_mpi_window *window)
{
    unsigned char *base = NULL;
    size_t table = table_bytes(window->count);
    size_t bytes = table + window->count * window->page_bytes + EKI_LINE;
    EKI_TRY(EKI_MPI(MPI_Win_allocate_shared,
                    nodes->node_rank == 0 ? (MPI_Aint)bytes : (MPI_Aint)0, 1,
                    MPI_INFO_NULL, nodes->node, &base, &window->window));
    MPI_Win_set_errhandler(window->window, MPI_ERRORS_RETURN);
    MPI_Aint size = 0;
    int unit = 1;
    EKI_TRY(
        EKI_MPI(MPI_Win_shared_query, window->window, 0, &size, &unit, &base));
    EKI_TRY(EKI_MPI(MPI_Win_lock_all, MPI_MODE_NOCHECK, window->window));
    /* Processes map pages, so the lowest rank's distance to the next line is
     * everyone's: it must be the same memory that is aligned. */
    int pad = (int)(-(uintptr_t)base % EKI_LINE);
    EKI_TRY(EKI_MPI(MPI_Bcast, &pad, 1, MPI_INT, 0, nodes->node));
    base += pad;
    if ((uintptr_t)base % EKI_LINE != 0)
        return eki_error(EK_ERR_MPI, "MPI maps shared memory at addresses that "
                                     "differ by less than a cache line");
    window->left = (_Atomic uint64_t *)(void *)base;
    window->memory = base + table;
    if (nodes->node_rank == 0)
        memset(base, 0, table);
    return EKI_MPI(MPI_Win_sync, window->window);
}

/* Nobody says that there is no room for what is optional. */
static ek_status hush_optional(const struct eki_node_memory *piece,
                               ek_status status)
{
    if (status == EK_ERR_NOMEM && piece->is_optional)
        (void)eki_error_take();
    return status;
}

/* Make a window where IS_NEEDED, and take PIECE of it; nobody waits for a rank
 * that gave up, and nobody takes memory while others look for it. */
static ek_status grow_windows(struct eki_mpi_nodes *nodes,
                              struct eki_node_memory *piece, bool is_needed)
{
    struct eki_mpi_set *set = nodes->set;
    struct eki_mpi_window *window = NULL;
    size_t bytes = 0;
    free_unused(nodes);
    ek_status status = choose_size(nodes, piece, is_needed, &bytes);
    EKI_TRY(eki_mpi_agree(set->comm, hush_optional(piece, status)));
    if (is_needed)
        status = open_window(nodes, piece, bytes, &window);
    status = eki_mpi_agree(set->comm, status);
    if (status == EK_OK) {
        if (is_needed)
            status = make_window(nodes, window);
        /* As in splitting: others may wait in MPI for this rank. */
        if (status == EK_ERR_MPI)
            eki_error_say(set->bare->base.rank, set->bare->base.size);
        status = eki_mpi_agree(set->comm, status);
    }
    if (status != EK_OK) {
        /* Freeing a window is collective, and some ranks may have none: it
         * stays until MPI_Finalize. */
        if (window)
            free_window(window, false);
        return status;
    }
    if (is_needed) {
        window->next = nodes->windows;
        nodes->windows = window;
        take_pages(window, piece);
        EKI_ASSERT(piece->window == window);
        window->touched = window->pages[piece->page].length; /* looked for */
        status = prepare_piece(nodes, piece);
    }
    return eki_mpi_agree(set->comm, hush_optional(piece, status));
}

/* Nobody has used it. */
static void give_back(struct eki_node_memory *piece)
{
    struct eki_mpi_window *window = piece->window;
    if (window)
        window->pages[piece->page].taken--;
    else
        eki_free(piece->memory);
    *piece = (struct eki_node_memory){0};
}

/* Take PIECE of what there is; *IS_NEEDED: it takes a window more. */
static ek_status take_now(struct eki_mpi_nodes *nodes,
                          struct eki_node_memory *piece, bool *is_needed)
{
    size_t bytes = piece->bytes;
    if (bytes < 1 || bytes > PTRDIFF_MAX / 2)
        return eki_error(EK_ERR_ARG, "%zu bytes of shared memory", bytes);
    if (nodes->node_size == 1) {
        piece->memory = eki_alloc_lines(bytes);
        return piece->memory ? EK_OK
                             : eki_error(EK_ERR_NOMEM,
                                         "no memory for %zu bytes that a node "
                                         "shares",
                                         bytes);
    }
    *is_needed = !take_piece(nodes, piece);
    return *is_needed ? EK_OK : prepare_piece(nodes, piece);
}

ek_status eki_mpi_share(struct eki_mpi_nodes *nodes, ek_status status,
                        struct eki_node_memory *piece)
{
    bool is_needed = false;
    if (status == EK_OK)
        status = hush_optional(piece, take_now(nodes, piece, &is_needed));
    uint64_t any_needs = is_needed;
    status = eki_mpi_agree_most(nodes->set->comm, status, &any_needs, 1);
    if (status == EK_OK && any_needs)
        status = grow_windows(nodes, piece, is_needed);
    if (status != EK_OK)
        give_back(piece);
    return status;
}

ek_status eki_fabric_mpi_share(struct eki_fabric *fabric, ek_status status,
                               size_t bytes, struct eki_node_memory *piece)
{
    struct eki_mpi_nodes *nodes = eki_mpi_of(fabric)->nodes;
    *piece = (struct eki_node_memory){.bytes = bytes};
    return nodes ? eki_mpi_share(nodes, status, piece)
                 : eki_error(EK_ERR_STATE, "the fabric is not open");
}

ek_status eki_fabric_mpi_try_share(struct eki_fabric *fabric, size_t bytes,
                                   struct eki_node_memory *piece)
{
    *piece = (struct eki_node_memory){.bytes = bytes, .is_optional = true};
    return eki_mpi_share(eki_mpi_of(fabric)->nodes, EK_OK, piece);
}

/* All ranks have left: the pages of a large piece are the system's again. */
static void give_up_pages(const struct eki_mpi_window *window)
{
#if defined(MADV_REMOVE)
    uintptr_t first = (uintptr_t)window->memory;
    uintptr_t last = first + window->page_bytes;
    first = round_pages(first);
    last -= last % EKI_MPI_PAGE;
    /* Where the mount cannot, they stay until the window is freed. */
    (void)madvise((void *)first, last - first, MADV_REMOVE);
#else
    (void)window;
#endif
}

void eki_fabric_mpi_unshare(struct eki_node_memory *piece)
{
    struct eki_mpi_window *window = piece->window;
    if (!window) {
        eki_free(piece->memory);
    } else if (eki_mpi_thread_level() >= 0) {
        /* release: pairs with the acquire in is_used(), which sees the releases
         * of all that have left before, too: only additions change the word. */
        atomic_fetch_add_explicit(&window->left[piece->page], 1,
                                  memory_order_release);
        if (is_own_window(window) && !is_used(window, 0))
            give_up_pages(window);
    }
    *piece = (struct eki_node_memory){0};
}
