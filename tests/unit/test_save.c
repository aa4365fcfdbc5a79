/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of saves: what is written is read, and nothing else is believed; and
 * the folder that they are in. */
#define _GNU_SOURCE
#include "save/layout.h"
#include "slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TASKS = 9,
    WORKERS = 2, /* of each of two ranks */
    SLOT_BYTES = 48,
    FLIPS = 4000,
    DOUBLES = 5 /* of a tile */
};

static const uint64_t learned[EKI_SAVE_LEARNED] = {3, [26] = UINT64_MAX - 1};
static const double values[DOUBLES] = {1, -2, 0.5, 1e300, -0.0};

static char folder[] = "/tmp/evenkeel-save-XXXXXX";
static char manifest_name[EKI_SAVE_NAME], rank_name[EKI_SAVE_NAME];
static unsigned char slots[TASKS * SLOT_BYTES];

static const struct eki_save_head rank_head = {.save = 0x123456789abcdef0,
                                               .iteration = 7,
                                               .part = 1,
                                               .ranks = 2,
                                               .workers = 2 * WORKERS,
                                               .workers_here = WORKERS,
                                               .last = EK_RESTORE_RETAIN,
                                               .is_retained = true,
                                               .chosen = EK_RESTORE_AUTO};

/* Of the library's calls of these, the next N-th fails. */
static int syncs_to_failure, renames_to_failure;

int fsync(int file)
{
    errno = EIO;
    return --syncs_to_failure == 0 ? -1 : (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to)
{
    errno = EIO;
    return --renames_to_failure == 0 ? -1
                                     : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static void fill_slots(void)
{
    struct eki_range range = {3, 1000};
    for (int i = 0; i < TASKS; i++) {
        struct eki_slot *slot = eki_slot_at(slots, i, SLOT_BYTES);
        fill(slot, eki_id(i % (2 * WORKERS), (uint64_t)i), EKI_SLOT_SEED,
             SLOT_BYTES);
        slot->bytes = (uint16_t)(slot->bytes - 3 * i);
        slot->bin = (uint16_t)(1000 * i);
    }
    struct eki_slot *last = eki_slot_at(slots, TASKS - 1, SLOT_BYTES);
    last->flags |= EKI_SLOT_RANGE | EKI_SLOT_CANCELLED;
    last->bin = EKI_BIN_RANGE;
    last->bytes = sizeof range;
    memcpy(last->payload, &range, sizeof range);
}

/* Two of three tasks have data, on either rank. */
static int home_of(const void *context, const struct eki_slot *slot)
{
    CHECK(context == slots);
    return slot->id % 3 == 0 ? -1 : (int)slot->id % 2;
}

/* Write the file of rank 1: worker 1 has all tasks but the first two. */
static ek_status write_rank(void)
{
    struct eki_save_out out;
    struct eki_save_numbers *numbers =
        calloc(1, sizeof *numbers + WORKERS * sizeof *numbers->workers);
    *numbers = (struct eki_save_numbers){11, 12, 1, 0};
    numbers->workers[1] = (struct eki_save_worker){13, 14};
    ek_status status = eki_save_create(&out, rank_name, &rank_head);
    out.home_of = home_of;
    out.context = slots;
    if (status == EK_OK)
        status = eki_save_numbers(&out, numbers, WORKERS);
    unsigned char *second = slots + 2 * SLOT_BYTES;
    if (status == EK_OK)
        status = eki_save_slots(&out, 0, slots, second, SLOT_BYTES);
    if (status == EK_OK)
        status =
            eki_save_slots(&out, 1, second, slots + sizeof slots, SLOT_BYTES);
    if (status == EK_OK)
        status = eki_save_tile(&out, 0, 3, values, DOUBLES);
    if (status == EK_OK)
        status = eki_save_tile(&out, 1, 7, values, 1);
    if (status == EK_OK)
        status = eki_save_tiles_end(&out);
    if (status == EK_OK)
        status = eki_save_finish(&out, &out.sums);
    eki_save_abandon(&out);
    free(numbers);
    return status;
}

static ek_status write_manifest(void)
{
    struct eki_save_out out;
    struct eki_save_head head = rank_head;
    head.part = EKI_SAVE_MANIFEST;
    head.workers_here = 0;
    ek_status status = eki_save_create(&out, manifest_name, &head);
    if (status == EK_OK)
        status = eki_save_function(&out, 0, "first", 0);
    if (status == EK_OK)
        status = eki_save_function(&out, 1, "second", 77);
    if (status == EK_OK)
        status = eki_save_function(&out, 2, "third", -1);
    if (status == EK_OK)
        status = eki_save_store(&out, 0, "store",
                                &(const struct eki_save_store){"", 5, 6, 7});
    if (status == EK_OK)
        status = eki_save_learned(&out, learned);
    if (status == EK_OK)
        status = eki_save_finish(&out, &(const struct eki_save_sums){5, 6, 7});
    eki_save_abandon(&out);
    return status;
}

/* Read the file of PART and, unless TASKS_READ is NULL, compare its tasks. */
static ek_status read_rank(int part, uint64_t save, int *tasks_read)
{
    struct eki_save_manifest manifest = {.head = rank_head, .functions = 3};
    struct eki_save_numbers *numbers;
    struct eki_save_in in;
    struct eki_save_task task;
    manifest.head.save = save;
    ek_status status = eki_save_open(&in, rank_name, part, &manifest, &numbers);
    if (status != EK_OK) {
        CHECK(numbers == NULL);
        return status;
    }
    int n = 0;
    for (bool found = true; status == EK_OK && found;) {
        status = eki_save_next(&in, &task, &found);
        if (status != EK_OK || !found || !tasks_read)
            continue;
        const struct eki_slot *slot = eki_slot_at(slots, n++, SLOT_BYTES);
        CHECK(memcmp(&task.head, slot, EKI_SLOT_HEADER) == 0);
        CHECK(memcmp(task.payload, slot->payload, slot->bytes) == 0);
        CHECK_EQ_INT(task.here, n > 2);
        CHECK_EQ_INT(task.home, home_of(slots, slot));
    }
    if (tasks_read) {
        *tasks_read = n;
        CHECK_EQ_INT(numbers->home, 11);
        CHECK_EQ_INT(numbers->foreign, 12);
        CHECK_EQ_INT(numbers->home_worker, 1);
        CHECK_EQ_INT(numbers->workers[1].inlet, 13);
        CHECK_EQ_INT(numbers->workers[1].spawned, 14);
    }
    eki_save_close(&in);
    eki_free(numbers);
    return status;
}

/* Read the tiles of the file of rank 1; how many pieces there are. */
static ek_status read_tiles(int *pieces)
{
    struct eki_save_manifest manifest = {
        .head = rank_head, .functions = 3, .stores = 2};
    struct eki_save_numbers *numbers;
    struct eki_save_in in;
    struct eki_save_tile tile;
    ek_status status = eki_save_open(&in, rank_name, 1, &manifest, &numbers);
    if (status != EK_OK)
        return status;
    *pieces = 0;
    for (bool found = true; status == EK_OK && found;) {
        status = eki_save_next_tile(&in, &tile, &found);
        if (status != EK_OK || !found)
            continue;
        double last;
        memcpy(&last, tile.values + (tile.count - 1) * (int64_t)sizeof last,
               sizeof last);
        CHECK(tile.store < manifest.stores);
        ++*pieces;
    }
    eki_save_close(&in);
    eki_free(numbers);
    return status;
}

/* Both walks over a file of a rank refuse it, or none does. */
static ek_status read_rank_quietly(void)
{
    int pieces;
    ek_status status = read_rank(rank_head.part, rank_head.save, NULL);
    return status == EK_OK ? read_tiles(&pieces) : status;
}

/* More than a block of a file holds, with one that fills its last double. */
static void tiles_are_written_in_pieces(void)
{
    enum {
        MOST = EKI_SAVE_TASKS_MOST / 8 - 3, /* of a piece */
        LENGTH = 2 * MOST + 1
    };
    struct eki_save_out out;
    struct eki_save_numbers *numbers =
        calloc(1, sizeof *numbers + WORKERS * sizeof *numbers->workers);
    double *longest = calloc(LENGTH, sizeof *longest);
    int pieces = 0;
    CHECK_OK(eki_save_create(&out, rank_name, &rank_head));
    CHECK_OK(eki_save_numbers(&out, numbers, WORKERS));
    CHECK_OK(eki_save_tile(&out, 0, 0, longest, LENGTH));
    CHECK_OK(eki_save_tile(&out, 0, 1, longest, MOST - 4));
    CHECK_OK(eki_save_tile(&out, 1, 0, longest, 1));
    CHECK_OK(eki_save_tiles_end(&out));
    CHECK_OK(eki_save_finish(&out, &out.sums));
    eki_save_abandon(&out);
    CHECK_OK(read_tiles(&pieces));
    CHECK_EQ_INT(pieces, 5);
    free(numbers);
    free(longest);
}

static ek_status read_manifest_quietly(void)
{
    struct eki_save_manifest manifest;
    ek_status status = eki_save_read_manifest(manifest_name, &manifest);
    eki_save_free_manifest(&manifest);
    return status;
}

static void what_is_written_is_read(void)
{
    int n = 0;
    CHECK_OK(write_rank());
    CHECK_OK(read_rank(1, rank_head.save, &n));
    CHECK_EQ_INT(n, TASKS);
    CHECK_OK(read_tiles(&n));
    CHECK_EQ_INT(n, 2);
    struct eki_save_manifest manifest;
    CHECK_OK(write_manifest());
    if (!CHECK_OK(eki_save_read_manifest(manifest_name, &manifest)))
        return;
    CHECK_EQ_INT(manifest.head.iteration, 7);
    CHECK_EQ_INT(manifest.head.last, EK_RESTORE_RETAIN);
    CHECK(manifest.head.is_retained);
    CHECK_EQ_INT(manifest.head.chosen, EK_RESTORE_AUTO);
    CHECK_EQ_INT(manifest.sums.tasks, 5);
    CHECK_EQ_INT(manifest.sums.ids, 6);
    CHECK_EQ_INT(manifest.sums.place, 7);
    CHECK_EQ_INT(manifest.functions, 3);
    CHECK_EQ_TEXT(manifest.list[1].name, "second");
    CHECK_EQ_INT(manifest.list[0].indices, 0);
    CHECK_EQ_INT(manifest.list[1].indices, 77);
    CHECK_EQ_INT(manifest.list[2].indices, -1);
    CHECK_EQ_INT(manifest.stores, 1);
    CHECK_EQ_TEXT(manifest.store_list[0].name, "store");
    CHECK_EQ_INT(manifest.store_list[0].tiles, 5);
    CHECK_EQ_INT(manifest.store_list[0].lengths, 6);
    CHECK_EQ_INT(manifest.store_list[0].layout, 7);
    CHECK(memcmp(manifest.learned, learned, sizeof learned) == 0);
    eki_save_free_manifest(&manifest);
}

/* A failure that names the file. */
static void check_refused(ek_status status, const char *name)
{
    CHECK_EQ_INT(status, EK_ERR_FILE);
    CHECK_HAS_TEXT(ek_error_message(), name);
}

static int64_t size_of(const char *name)
{
    struct stat status;
    return stat(name, &status) == 0 ? status.st_size : -1;
}

static void flip(int file, int64_t bit)
{
    unsigned char byte;
    CHECK_EQ_INT(pread(file, &byte, 1, bit / 8), 1);
    byte ^= (unsigned char)(1 << bit % 8);
    CHECK_EQ_INT(pwrite(file, &byte, 1, bit / 8), 1);
}

/* Each bit, and each length. */
static void check_each(const char *name, ek_status (*read_file)(void))
{
    int64_t bytes = size_of(name);
    int file = open(name, O_RDWR);
    for (int64_t bit = 0; bit < 8 * bytes; bit++) {
        flip(file, bit);
        check_refused(read_file(), name);
        flip(file, bit);
    }
    CHECK_OK(read_file());
    CHECK_EQ_INT(pwrite(file, "", 1, bytes), 1);
    check_refused(read_file(), name);
    while (bytes-- > 0) {
        CHECK_EQ_INT(ftruncate(file, bytes), 0);
        check_refused(read_file(), name);
    }
    close(file);
    unlink(name);
    check_refused(read_file(), name);
}

static void damage_is_found(void)
{
    check_each(rank_name, read_rank_quietly);
    check_each(manifest_name, read_manifest_quietly);
}

static void a_file_of_another_save_is_found(void)
{
    CHECK_OK(write_rank());
    check_refused(read_rank(1, rank_head.save + 1, NULL), rank_name);
    CHECK_HAS_TEXT(ek_error_message(), "another save");
    check_refused(read_rank(0, rank_head.save, NULL), rank_name);
    CHECK_HAS_TEXT(ek_error_message(), "another rank");
    check_refused(read_rank(EKI_SAVE_MANIFEST, rank_head.save, NULL),
                  rank_name);
}

/* Make all CRCs of a file right again, which has the blocks of WHOLE. */
static void seal(unsigned char *file, const unsigned char *whole, size_t bytes)
{
    size_t at = EKI_SAVE_HEADER + EKI_BLOCK_CRC;
    eki_put(file + EKI_SAVE_HEADER, eki_crc32c(0, file, EKI_SAVE_HEADER), 4);
    while (at < bytes) {
        size_t body = (size_t)eki_get(whole + at + EKI_BLOCK_BYTES, 8);
        unsigned char *head = file + at, *crc = head + EKI_BLOCK_HEAD + body;
        eki_put(head + EKI_BLOCK_HEAD_CRC, eki_block_head_crc(head), 4);
        eki_put(crc, eki_crc32c(0, head + EKI_BLOCK_HEAD, body), 4);
        at += EKI_BLOCK_HEAD + body + EKI_BLOCK_CRC;
    }
}

static void wrong_bytes_with_right_crcs_do_no_harm(void)
{
    unsigned char whole[4096], wrong[sizeof whole];
    struct eki_random random;
    int file = open(rank_name, O_RDWR), refused = 0;
    ssize_t bytes = pread(file, whole, sizeof whole, 0);
    eki_random_seed(&random, 1, 1);
    for (int i = 0; i < FLIPS; i++) {
        uint64_t at = eki_random_below(&random, (uint64_t)bytes);
        memcpy(wrong, whole, (size_t)bytes);
        wrong[at] = (unsigned char)eki_random_next(&random);
        seal(wrong, whole, (size_t)bytes);
        CHECK_EQ_INT(pwrite(file, wrong, (size_t)bytes, 0), bytes);
        refused += read_rank_quietly() != EK_OK;
    }
    CHECK(refused > 0);
    close(file);
}

static void newest_is_the_largest_with_a_manifest(void)
{
    static const char *const names[] = {
        "save-2.manifest",      "save-10.manifest", "save-11.manifest.new",
        "save-11.rank-0",       "save-12.rank-3",   "save-99x.manifest",
        "my-save-100.manifest", "save-9.manifest",  "save-10.rank-0"};
    char name[EKI_SAVE_NAME];
    int64_t newest = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        close(open(name, O_WRONLY | O_CREAT, 0600));
    }
    CHECK_OK(eki_save_newest(folder, &newest));
    CHECK_EQ_INT(newest, 10);
    eki_save_remove(folder, 11, INT64_MAX);
    eki_save_remove(folder, 3, 9);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        static const bool stays[] = {1, 1, 0, 0, 0, 1, 1, 0, 1};
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        CHECK_EQ_INT(size_of(name) >= 0, stays[i]);
        unlink(name);
    }
    check_refused(eki_save_newest("/nowhere/at/all", &newest),
                  "/nowhere/at/all");
}

static void a_manifest_that_cannot_be_placed_is_told(void)
{
    char new[EKI_SAVE_NAME + 8];
    snprintf(new, sizeof new, "%s" EKI_SAVE_NEW, manifest_name);
    for (int i = 0; i < 4; i++) {
        CHECK_OK(write_manifest());
        CHECK_EQ_INT(renameat(AT_FDCWD, manifest_name, AT_FDCWD, new), 0);
        syncs_to_failure = i;
        renames_to_failure = i == 3;
        ek_status status = eki_save_place(folder, 1);
        if (i == 0)
            CHECK_OK(status);
        else
            check_refused(status, manifest_name);
        CHECK_EQ_INT(size_of(manifest_name) >= 0, i == 0 || i == 2);
        unlink(manifest_name);
    }
    unlink(new);
    syncs_to_failure = 1;
    check_refused(write_rank(), rank_name);
}

static void folders_are_made_once(void)
{
    char name[EKI_SAVE_NAME];
    CHECK_OK(eki_save_make_folder(folder));
    CHECK_OK(write_rank());
    check_refused(eki_save_make_folder(rank_name), rank_name);
    snprintf(name, sizeof name, "%s/deep/er", folder);
    check_refused(eki_save_make_folder(name), name);
}

/* Whatever allocation fails, nothing is owned; a sanitizer looks. */
static void lack_of_memory_is_told(void)
{
    ek_status status = EK_ERR_NOMEM;
    for (int n = 1; status == EK_ERR_NOMEM; n++)
        WITHOUT_MEMORY(n, status = write_rank());
    CHECK_OK(status);
    status = EK_ERR_NOMEM;
    for (int n = 1; status == EK_ERR_NOMEM; n++)
        WITHOUT_MEMORY(n, status = read_rank_quietly());
    CHECK_OK(status);
    CHECK_OK(write_manifest());
    status = EK_ERR_NOMEM;
    for (int n = 1; status == EK_ERR_NOMEM; n++)
        WITHOUT_MEMORY(n, status = read_manifest_quietly());
    CHECK_OK(status);
}

int main(void)
{
    if (!CHECK(mkdtemp(folder) != NULL))
        return check_result();
    eki_save_name(manifest_name, folder, 1, EKI_SAVE_MANIFEST);
    eki_save_name(rank_name, folder, 1, 1);
    fill_slots();
    RUN(tiles_are_written_in_pieces);
    RUN(what_is_written_is_read);
    RUN(damage_is_found);
    RUN(a_file_of_another_save_is_found);
    RUN(wrong_bytes_with_right_crcs_do_no_harm);
    RUN(newest_is_the_largest_with_a_manifest);
    RUN(a_manifest_that_cannot_be_placed_is_told);
    RUN(folders_are_made_once);
    RUN(lack_of_memory_is_told);
    eki_save_remove(folder, 0, INT64_MAX);
    rmdir(folder);
    return check_result();
}
