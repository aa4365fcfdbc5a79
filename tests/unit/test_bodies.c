/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bodies: every field of every parcel of a rebalance, below, at and above what
 * it may be, and parcels that are sound but not for whom they come to.
 */
#include "tell.h"

#include "exchange/shape.h"

enum {
    WORDS = 22 /* of a body, at most */
};

/* What a letter says of a word of a body, or of an int32_t AT some bytes behind
 * its beginning; where nothing lies between LEAST and MOST just what it is. */
static const struct letter {
    char letter;
    int at;
    bool is_half;
    int64_t least, most;
} letters[] = {{'N', 0, false, 0, EKI_NS_MOST},
               {'H', 0, false, 0, EKI_NS_MOST / 2},
               {'C', 0, false, 0, EKI_NS_MOST / (EKI_CROWD + 1)},
               {'G', 0, false, -EKI_NS_MOST, EKI_NS_MOST},
               {'A', 0, false, 0, INT64_MAX},
               {'F', 0, false, 0, INT64_MAX / 8},
               {'L', 0, false, -1, INT64_MAX - 1},
               {'I', 0, false, 1, INT32_MAX},
               {'P', 0, false, 0, INT32_MAX},
               {'S', 0, false, 0, EKI_SIZES - 1},
               {'R', 0, false, 0, EKI_RESTORE_FAILED},
               {'T', 0, false, 0, EKI_STEAL_COSTS},
               {'V', 0, false, 0, EKI_SPEED_MOST *EKI_SPEED_UNIT},
               {'B', 0, false, 0, 1},
               {'D', 0, false, 0, INT64_C(0x43c0) << 48}, /* a double */
               {'<', 0, false, 0, INT64_MAX}, /* too much would break loads */
               {'=', 0, false, 1, 0},
               /* Worker and index of a task: of a worker, or one task. */
               {'i', 0, true, 1, 0},
               {'i', 4, true, 0, INT32_MAX},
               {'e', 0, true, 1, 0},
               {'e', 4, true, 1, 0},
               {'t', 0, true, 0, 1},
               /* All values are good, or nobody reads it. */
               {'.', 0, false, INT64_MIN, INT64_MAX}};

#define PAIR(low, high) ((int64_t)(high) << 32 | (low))

/* Parcels as a rank of two gets them from the other, a letter for each word. */
static const struct body {
    int rank, tasks; /* that it has */
    ek_restore_policy policy;
    int what, group;
    const char *letters;
    int64_t words[WORDS];
} bodies[] = {
    {0,
     0,
     EK_RESTORE_CENTRALIZED,
     EKI_PARCEL_TOTALS,
     0, /* known, size */
     "NNN.=NNN.VNNNNNNNANSIC",
     {1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 5, 1, 1}},
    {1,
     3,
     EK_RESTORE_CENTRALIZED,
     EKI_PARCEL_TARGET,
     0, /* a hint */
     "HBBBVNNNN=AD",
     {1, 0, 1, 0, 0, 4, 3, 1, 0, 2, 4, 0}},
    {0,
     0,
     EK_RESTORE_CENTRALIZED,
     EKI_PARCEL_OFFER,
     0, /* a load, an item */
     "====FFNNNi",
     {1, 64, 1, 1, 0, 0, 3, 0, 0, PAIR(1, 0)}},
    {0,
     0,
     EK_RESTORE_HIERARCHICAL,
     EKI_PARCEL_LEFT,
     0, /* an item */
     "==G=GGGGGGGGGGGGGGGGNi",
     {1, 160, 0, 1, [21] = PAIR(1, 0)}},
    {1, 0, EK_RESTORE_HIERARCHICAL, EKI_PARCEL_GIVEN, 0, "==Ni", {1, 16}},
    {1,
     3,
     EK_RESTORE_CENTRALIZED,
     EKI_PARCEL_OPEN,
     0, /* of two workers */
     "LAe",
     {-1, INT64_MAX, PAIR(0, 1)}},
    {0,
     0,
     EK_RESTORE_CENTRALIZED,
     EKI_PARCEL_OPENED,
     0,
     "==<i",
     {1, 16, 0, PAIR(1, 2)}},
    {1,
     3,
     EK_RESTORE_CENTRALIZED,
     EKI_PARCEL_PLAN,
     0,
     "==et",
     {1, 16, PAIR(1, 2), 0}},
    {1,
     0,
     EK_RESTORE_HIERARCHICAL_HPDC12,
     EKI_PARCEL_UP,
     0,
     "NNi",
     {0, 0, PAIR(0, 2)}},
    {0,
     3,
     EK_RESTORE_HIERARCHICAL_HPDC12,
     EKI_PARCEL_DOWN,
     0,
     "Ni",
     {0, PAIR(1, 0)}},
    {0,
     3,
     EK_RESTORE_HIERARCHICAL_HPDC12,
     EKI_PARCEL_FETCH,
     1,
     "e",
     {PAIR(0, 2)}},
    {0,
     0,
     EK_RESTORE_HIERARCHICAL_HPDC12,
     EKI_PARCEL_RESULT,
     0,
     "NNNNNN.....",
     {0, 0, EKI_NS_MOST}},
    {1,
     0,
     EK_RESTORE_CENTRALIZED,
     EKI_PARCEL_OVER,
     0,
     "NNAAHA.BPRT",
     {3, 2, EKI_NS_MOST / 2, 1, 0, 1, 5}},
};

/* Loads of which three fit, so that a leader asks for what it has not got. */
static void tell_offer(struct lone *lone)
{
    const eki_ns ns = EKI_NS_MOST / 10 * 3;
    const struct {
        struct eki_section section;
        struct eki_offer_told told;
        eki_ns load;
        struct eki_item items[2];
    } offer = {{1, sizeof offer - sizeof offer.section},
               {.workers = 1, .items = 2, .largest = 3 * ns},
               ns,
               {{ns, 1, 0}, {ns, 1, 1}}};
    tell_totals_of(lone, 3, ns);
    tell(lone, EKI_PARCEL_OFFER, &offer, sizeof offer);
}

/* Whether a rank in the state that BODY comes in takes these bytes; else
 * *ERROR says why not. */
static bool fits(const struct body *body, const void *words, size_t bytes,
                 struct eki_error *error)
{
    struct lone lone;
    begin_as(&lone, body->rank, body->tasks, body->policy);
    lone_serve(&lone);
    if (body->what == EKI_PARCEL_OPENED)
        tell_offer(&lone);
    else if (body->rank == 0 && body->what != EKI_PARCEL_TOTALS)
        tell_totals(&lone, body->tasks ? 1 : 1000);
    else if (body->rank == 1 && body->what != EKI_PARCEL_TARGET)
        tell_target(&lone, 2, false);
    CHECK_EQ_INT(eki_refused(lone.engine), EKI_FITS);
    tell_of(&lone, body->what, body->group, words, bytes);
    bool is_good = eki_refused(lone.engine) == EKI_FITS;
    *error = lone.engine->node->refusal;
    lone_close(&lone);
    return is_good;
}

/* Whether TEXT refuses this parcel for this value.  Which field it is that does
 * not go with what has just one value, or with a task, is left open. */
static bool says(const struct body *body, const struct letter *letter,
                 int64_t value, const char *text)
{
    char field[100];
    snprintf(field, sizeof field, " is %" PRId64 "; allowed: %" PRId64 " ... ",
             value, letter->least);
    return strchr("=ietD", letter->letter) ||
           (strstr(text, eki_parcel_name(body->what)) && strstr(text, field));
}

static void check_word(const struct body *body, int word,
                       const struct letter *letter)
{
    struct eki_error error;
    size_t at = (size_t)word * 8 + (size_t)letter->at;
    size_t bytes = 8 * strlen(body->letters);
    int64_t values[4], is = body->words[word];
    is = letter->is_half ? (int32_t)(is >> 8 * letter->at) : is;
    int64_t least = letter->least > letter->most ? is : letter->least;
    int64_t most = letter->least > letter->most ? is : letter->most;
    int n = 0;
    values[n++] = least;
    if (letter->letter != '<')
        values[n++] = most;
    if (least > INT64_MIN)
        values[n++] = least - 1;
    if (most < (letter->is_half ? INT32_MAX : INT64_MAX))
        values[n++] = most + 1;
    for (int i = 0; i < n; i++) {
        int64_t words[WORDS];
        int32_t half = (int32_t)values[i];
        memcpy(words, body->words, sizeof words);
        memcpy((char *)words + at, letter->is_half ? (void *)&half : &values[i],
               letter->is_half ? sizeof half : sizeof *values);
        bool is_good = values[i] >= least && values[i] <= most;
        if (!CHECK_EQ_INT(fits(body, words, bytes, &error), is_good) ||
            !(is_good || CHECK(says(body, letter, values[i], error.text))))
            fprintf(stderr, "%s, byte %zu: %" PRId64 " %s\n",
                    eki_parcel_name(body->what), at, values[i], error.text);
    }
}

static void no_field_goes_unchecked(void)
{
    struct eki_error error;
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
        const struct body *body = &bodies[b];
        for (int word = 0; body->letters[word] != '\0'; word++) {
            for (size_t l = 0; l < sizeof letters / sizeof *letters; l++) {
                if (letters[l].letter == body->letters[word])
                    check_word(body, word, &letters[l]);
            }
        }
        CHECK(!fits(body, body->words, 8 * strlen(body->letters) - 2, &error));
        CHECK_HAS_TEXT(error.text, "bytes");
    }
}

/* What comes to whom it is not for, or in a stage where it is not wanted. */
static void what_is_not_for_this_rank_is_refused(void)
{
    static const struct {
        int rank, what, group;
        size_t bytes;
        int64_t words[3];
        const char *field;
    } lies[] = {
        {1, EKI_PARCEL_UP, 1, 24, {0, 0, PAIR(0, 2)}, "right sender"},
        {1, EKI_PARCEL_UP, 2, 24, {0, 0, PAIR(0, 2)}, "vertex of this rank"},
        {0, EKI_PARCEL_UP, 1, 24, {0, 0, PAIR(1, 2)}, "vertex of this rank"},
        {1, EKI_PARCEL_UP, 3, 24, {0, 0, PAIR(0, 2)}, "group"},
        {1, EKI_PARCEL_DOWN, 0, 0, {0}, "worker"},
        {1, EKI_PARCEL_DOWN, 1, 0, {0}, "right sender"},
        {1, EKI_PARCEL_DOWN, 2, 0, {0}, "children to come"},
        {0, EKI_PARCEL_FETCH, 0, 8, {PAIR(0, 2)}, "worker"},
        {0, EKI_PARCEL_FETCH, 1, 8, {PAIR(0, 1)}, "place so far"},
        {0, EKI_PARCEL_OFFER, 0, 0, {0}, "group"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct eki_error error;
        const struct body body = {.rank = lies[i].rank,
                                  .tasks = 3,
                                  .policy = EK_RESTORE_HIERARCHICAL_HPDC12,
                                  .what = lies[i].what,
                                  .group = lies[i].group};
        CHECK(!fits(&body, lies[i].words, lies[i].bytes, &error));
        CHECK_EQ_INT(error.status, EK_ERR_MPI);
        CHECK_HAS_TEXT(error.text, lies[i].field);
    }
}

/* Nobody leads a group before the target is known. */
static void nothing_is_given_before_the_target(struct lone *lone)
{
    const struct eki_section section = {1, 0};
    begin_as(lone, 1, 3, EK_RESTORE_HIERARCHICAL);
    lone_serve(lone);
    tell(lone, EKI_PARCEL_GIVEN, &section, sizeof section);
    CHECK_HAS_TEXT(lone->engine->node->refusal.text, "leader is 0");
}

static void sums_keep_the_bounds(void)
{
    struct told {
        int64_t sum, largest, hash, other;
    } sums = {5, 5, -1, 5}, told = {5, 7, -3, 7};
    static const struct eki_row rows[] = {
        EKI_ROW(struct told, sum, "sum", 0, 10, EKI_FOLD_SUM),
        EKI_ROW(struct told, largest, "largest", 0, 7, EKI_FOLD_LARGEST),
        EKI_ROW(struct told, hash, "hash", INT64_MIN, INT64_MAX, EKI_FOLD_WRAP),
        EKI_ROW(struct told, other, "other", 0, 7, EKI_FOLD_NONE)};
    const struct eki_shape shape = EKI_SHAPE(rows);
    struct eki_unfit unfit;
    CHECK(eki_shape_fits(&shape, &told, &sums, &unfit));
    eki_shape_fold(&shape, &told, &sums);
    CHECK_EQ_INT(sums.sum, 10);
    CHECK_EQ_INT(sums.largest, 7);
    CHECK_EQ_INT(sums.hash, -4);
    CHECK_EQ_INT(sums.other, 5);
    CHECK(eki_shape_fits(&shape, &told, NULL, &unfit));
    CHECK(!eki_shape_fits(&shape, &told, &sums, &unfit));
    CHECK_EQ_TEXT(unfit.name, "sum");
    CHECK_EQ_INT(unfit.most, 0);
}

int main(void)
{
    RUN(no_field_goes_unchecked);
    RUN(what_is_not_for_this_rank_is_refused);
    RUN_LONE(nothing_is_given_before_the_target);
    RUN(sums_keep_the_bounds);
    return check_result();
}
