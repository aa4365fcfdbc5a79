/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lifelines: degrees, distances and reach of the graphs.
 */
#include "steal/lifelines.h"

#include "check.h"

enum {
    MOST = 1000
};

struct shape {
    int degree_min, degree_max, diameter;
};

static int lifelines[MOST][EKI_LIFELINES_MOST], counts[MOST];

/* The largest distance from PLACE; -1: some place is out of reach. */
static int reach(int places, int place)
{
    static int list[MOST], distance[MOST];
    int reached = 1;
    for (int i = 0; i < places; i++)
        distance[i] = -1;
    distance[place] = 0;
    list[0] = place;
    for (int next = 0; next < reached; next++) {
        int from = list[next];
        for (int i = 0; i < counts[from]; i++) {
            int to = lifelines[from][i];
            if (distance[to] < 0) {
                distance[to] = distance[from] + 1;
                list[reached++] = to;
            }
        }
    }
    return reached < places ? -1 : distance[list[places - 1]];
}

/* Of a graph; the diameter is -1 if it is not strongly connected. */
static struct shape measure(int graph, int radix, int places)
{
    struct eki_lifeline_option option = {.graph = graph, .radix = radix};
    struct shape shape = {MOST, 0, 0};
    bool fit = true;
    for (int p = 0; p < places; p++) {
        int count = counts[p] = eki_lifelines(&option, places, p, lifelines[p]);
        shape.degree_min = count < shape.degree_min ? count : shape.degree_min;
        shape.degree_max = count > shape.degree_max ? count : shape.degree_max;
        for (int i = 0; i < count; i++) {
            fit &= lifelines[p][i] >= 0 && lifelines[p][i] < places &&
                   lifelines[p][i] != p;
            for (int j = 0; j < i; j++)
                fit &= lifelines[p][i] != lifelines[p][j];
        }
    }
    CHECK(fit);
    for (int p = 0; p < places; p++) {
        int far = reach(places, p);
        shape.diameter = far < 0 || shape.diameter < 0 ? -1
                         : far > shape.diameter        ? far
                                                       : shape.diameter;
    }
    return shape;
}

static int log2_above(int places)
{
    int log2 = 0;
    while (1 << log2 < places)
        log2++;
    return log2;
}

static void hypercubes_are_the_tables(void)
{
    static const int sizes[5] = {8, 13, 64, 100, 1000};
    static const int radices[4] = {2, 4, 8, 32};
    static const struct shape shapes[5][4] = {
        {{3, 3, 3}, {2, 2, 4}, {1, 1, 7}, {1, 1, 7}},
        {{2, 4, 4}, {1, 2, 6}, {1, 2, 8}, {1, 1, 12}},
        {{6, 6, 6}, {3, 3, 9}, {2, 2, 14}, {2, 2, 32}},
        {{4, 7, 7}, {3, 4, 10}, {2, 3, 15}, {2, 2, 34}},
        {{8, 10, 10}, {5, 5, 15}, {3, 4, 22}, {2, 2, 62}}};
    for (int s = 0; s < 5; s++) {
        for (int r = 0; r < 4; r++) {
            struct shape shape =
                measure(EKI_GRAPH_HYPERCUBE, radices[r], sizes[s]);
            CHECK_EQ_INT(shape.degree_min, shapes[s][r].degree_min);
            CHECK_EQ_INT(shape.degree_max, shapes[s][r].degree_max);
            CHECK_EQ_INT(shape.diameter, shapes[s][r].diameter);
        }
    }
}

static void everybody_reaches_everybody(void)
{
    static const int radices[6] = {2, 3, 4, 8, 16, 32};
    for (int places = 2; places <= 300; places++) {
        for (int r = 0; r < 6; r++) {
            struct shape cube =
                measure(EKI_GRAPH_HYPERCUBE, radices[r], places);
            CHECK(cube.diameter > 0);
        }
        int most = log2_above(places);
        struct shape bits = measure(EKI_GRAPH_XOR, 4, places);
        CHECK(bits.diameter > 0 && bits.diameter <= most);
        CHECK(bits.degree_max <= most);
        struct shape offsets = measure(EKI_GRAPH_OFFSETS, 4, places);
        CHECK(offsets.diameter > 0 && offsets.diameter <= most);
        CHECK_EQ_INT(offsets.degree_min, most);
        CHECK_EQ_INT(offsets.degree_max, most);
        struct shape ring = measure(EKI_GRAPH_RING, 4, places);
        CHECK_EQ_INT(ring.diameter, places - 1);
        CHECK_EQ_INT(ring.degree_max, 1);
    }
}

/* Place 6 = 12 in radix 4, of 13: 11 and 02, whose digits are lower. */
static void lifelines_lead_down(void)
{
    struct eki_lifeline_option option = {.graph = EKI_GRAPH_HYPERCUBE,
                                         .radix = 4};
    int victims[EKI_LIFELINES_MOST];
    CHECK_EQ_INT(eki_lifelines(&option, 13, 6, victims), 2);
    CHECK_EQ_INT(victims[0], 5);
    CHECK_EQ_INT(victims[1], 2);
    /* 00 would ask 03 and 30; 01 has no 31, and asks 21. */
    CHECK_EQ_INT(eki_lifelines(&option, 13, 1, victims), 2);
    CHECK_EQ_INT(victims[0], 0);
    CHECK_EQ_INT(victims[1], 9);
    /* 30 has nobody on its last line but itself. */
    CHECK_EQ_INT(eki_lifelines(&option, 13, 12, victims), 1);
    CHECK_EQ_INT(victims[0], 8);
}

static void few_places_ask_by_offsets(void)
{
    struct eki_lifeline_option option = {.graph = EKI_GRAPH_AUTO, .radix = 4};
    int victims[EKI_LIFELINES_MOST];
    CHECK_EQ_INT(eki_lifelines(&option, 64, 63, victims), 6);
    CHECK_EQ_INT(victims[5], 31);
    CHECK_EQ_INT(eki_lifelines(&option, 65, 64, victims), 1);
    CHECK_EQ_INT(victims[0], 0);
}

static void a_place_alone_asks_nobody(void)
{
    int victims[EKI_LIFELINES_MOST];
    for (int graph = EKI_GRAPH_AUTO; graph <= EKI_GRAPH_RING; graph++) {
        struct eki_lifeline_option option = {.graph = graph, .radix = 2};
        CHECK_EQ_INT(eki_lifelines(&option, 1, 0, victims), 0);
    }
}

static void the_most_places_have_room(void)
{
    static const int counts_of[] = {[EKI_GRAPH_AUTO] = 30,
                                    [EKI_GRAPH_HYPERCUBE] = 30,
                                    [EKI_GRAPH_XOR] = 30,
                                    [EKI_GRAPH_OFFSETS] = 31,
                                    [EKI_GRAPH_RING] = 1};
    int victims[EKI_LIFELINES_MOST];
    for (int graph = EKI_GRAPH_AUTO; graph <= EKI_GRAPH_RING; graph++) {
        struct eki_lifeline_option option = {.graph = graph, .radix = 2};
        CHECK_EQ_INT(eki_lifelines(&option, INT32_MAX, INT32_MAX - 1, victims),
                     counts_of[graph]);
    }
}

int main(void)
{
    RUN(hypercubes_are_the_tables);
    RUN(everybody_reaches_everybody);
    RUN(lifelines_lead_down);
    RUN(few_places_ask_by_offsets);
    RUN(a_place_alone_asks_nobody);
    RUN(the_most_places_have_room);
    return check_result();
}
