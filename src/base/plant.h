/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planted bugs: mistakes that protocols of this library are known to invite,
 * for tests to see that what looks for them finds them: schedule checking
 * (tests/sim), and programs drawn from seeds (tests/stress/mix.c).
 *
 * EKI_PLANTED(NAME) is 0 in the library.  In a library of the tests, built with
 * EKI_PLANT, one at a time can be made.
 */
#ifndef EKI_PLANT_H
#define EKI_PLANT_H

#ifdef EKI_PLANT

/* X(name, as tests call it). */
#define EKI_PLANTS(X)                     \
    X(SINGLE_WAVE, "single-wave")         \
    X(CREATED_FIRST, "created-first")     \
    X(MIXED_PASS, "mixed-pass")           \
    X(EARLY_PUBLISH, "early-publish")     \
    X(NO_FINISH, "no-finish")             \
    X(TWICE_EXHAUSTED, "twice-exhausted") \
    X(OLD_REQUESTS, "old-requests")       \
    X(RESET_COUNTERS, "reset-counters")   \
    X(TASKS_LAST, "tasks-last")           \
    X(PUBLISH_FIRST, "publish-first")     \
    X(HANDED_STAYS, "handed-stays")       \
    X(TWICE_ADDED, "twice-added")         \
    X(PINNED_FREE, "pinned-free")         \
    X(PINNED_TWICE, "pinned-twice")       \
    X(LINED_TWICE, "lined-twice")         \
    X(EARLY_PIECES, "early-pieces")       \
    X(KEPT_CACHE, "kept-cache")           \
    X(TWICE_UNPACKED, "twice-unpacked")   \
    X(RESULTS_LAST, "results-last")       \
    X(STAGED_SHOWN, "staged-shown")       \
    X(HOLE_SHOWN, "hole-shown")           \
    X(SPAWNED_LEFT, "spawned-left")       \
    X(COPIED_TWICE, "copied-twice")       \
    X(ADDED_ANEW, "added-anew")           \
    X(SKIPPED_GONE, "skipped-gone")       \
    X(RELEASED_TWICE, "released-twice")   \
    X(ARRIVES_IDLE, "arrives-idle")       \
    X(OLD_GUESTS, "old-guests")           \
    X(BATCH_ALONE, "batch-alone")         \
    X(VOTES_ASKING, "votes-asking")       \
    X(GIVES_UNASKED, "gives-unasked")     \
    X(GIVES_UNSEEN, "gives-unseen")       \
    X(TAKER_TELLS, "taker-tells")         \
    X(RECEIPTS_ALONE, "receipts-alone")   \
    X(NO_RECEIPTS, "no-receipts")         \
    X(SUMS_ALONE, "sums-alone")           \
    X(CLOSED_UNSEEN, "closed-unseen")     \
    X(COPIED_FIRST, "copied-first")       \
    X(EARLY_EPOCH, "early-epoch")         \
    X(UNSYNCED, "unsynced")               \
    X(SAVE_KEPT_LOST, "save-kept-lost")   \
    X(SAVE_DURATION, "save-duration")     \
    X(MANIFEST_FIRST, "manifest-first")   \
    X(SAVE_HOME_LOST, "save-home-lost")   \
    X(SAVE_TILES_SWAP, "save-tiles-swap") \
    X(SAVE_LEARNED, "save-learned")       \
    X(OWNER_BORDER, "owner-border")

enum eki_plant {
    EKI_PLANT_NONE,
#define EKI_PLANT_NAME(name, text) EKI_PLANT_##name,
    EKI_PLANTS(EKI_PLANT_NAME)
#undef EKI_PLANT_NAME
};

/* The one that is made; of whoever links that library. */
extern enum eki_plant eki_planted;

#define EKI_PLANTED(name) (eki_planted == EKI_PLANT_##name)

#else
#define EKI_PLANTED(name) 0
#endif

#endif
