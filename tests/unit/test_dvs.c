/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dvs: classes and victims of workers on meshes, as the paper has them.
 */
#include "steal/dvs.h"

#include "check.h"

#include <string.h>

enum {
    MOST = 400
};

static const struct eki_dvs_option line = {.layout = EKI_LAYOUT_LINE};
static const struct eki_dvs_option grid = {.layout = EKI_LAYOUT_GRID};
static const struct eki_dvs_option cube = {.layout = EKI_LAYOUT_CUBE};
static const struct eki_dvs_option diamond = {.layout = EKI_LAYOUT_DIAMOND};

static struct eki_mesh lay(const struct eki_dvs_option *shape, int count,
                           int source)
{
    struct eki_mesh mesh;
    CHECK(eki_mesh_lay(&mesh, shape, count, source));
    return mesh;
}

/* "12 | 7 11 13": the victims of a worker; levels in order, each as a set in
 * the order of numbers. */
static void text_of(const struct eki_mesh *mesh, int worker, char *text,
                    size_t bytes)
{
    struct eki_dvs_list list;
    eki_dvs_list(mesh, worker, &list);
    text[0] = 0;
    for (int first = 0, last; first < list.count; first = last) {
        int level = eki_mesh_distance(mesh, list.workers[first], mesh->source);
        for (last = first;
             last < list.count &&
             eki_mesh_distance(mesh, list.workers[last], mesh->source) == level;
             last++)
            ;
        if (first > 0)
            eki_append(text, bytes, " |");
        for (int w = 0; w < mesh->count; w++) {
            for (int i = first; i < last; i++) {
                if (list.workers[i] == w)
                    eki_append(text, bytes, "%s%d", text[0] ? " " : "", w);
            }
        }
    }
}

/* The paper's example: 5 x 5, the source in the middle. */
static void five_by_five_is_the_papers(void)
{
    static const char classes[] = "ZFXFZ"
                                  "FFXFF"
                                  "XXsXX"
                                  "FFXFF"
                                  "ZFXFZ";
    static const char *const victims[25] = {
        "1 5",           "0 | 2 6",
        "7 | 1 3",       "4 | 2 8",
        "3 9",           "0 | 6 10",
        "1 5 | 7 11",    "12 | 11 13 17 | 2 6 8",
        "3 9 | 7 13",    "4 | 8 14",
        "11 | 5 15",     "12 | 7 13 17 | 6 10 16",
        "7 11 13 17",    "12 | 7 11 17 | 8 14 18",
        "13 | 9 19",     "20 | 10 16",
        "15 21 | 11 17", "12 | 7 11 13 | 16 18 22",
        "19 23 | 13 17", "24 | 14 18",
        "15 21",         "20 | 16 22",
        "17 | 21 23",    "24 | 18 22",
        "19 23"};
    struct eki_mesh mesh = lay(&grid, 25, -1);
    CHECK_EQ_INT(mesh.source, 12);
    CHECK_EQ_INT(mesh.radius, 4);
    for (int w = 0; w < 25; w++) {
        char text[100];
        text_of(&mesh, w, text, sizeof text);
        CHECK_EQ_TEXT(text, victims[w]);
        CHECK_EQ_INT(classes[w], "sXZF"[eki_dvs_class_of(&mesh, w)]);
    }
    eki_mesh_free(&mesh);
}

static void check_counts(const struct eki_dvs_option *shape, int count, int x,
                         int z, int f)
{
    struct eki_mesh mesh = lay(shape, count, -1);
    int counts[4] = {0};
    for (int w = 0; w < count; w++)
        counts[eki_dvs_class_of(&mesh, w)]++;
    CHECK_EQ_INT(counts[EKI_DVS_SOURCE], 1);
    CHECK_EQ_INT(counts[EKI_DVS_X], x);
    CHECK_EQ_INT(counts[EKI_DVS_Z], z);
    CHECK_EQ_INT(counts[EKI_DVS_F], f);
    eki_mesh_free(&mesh);
}

static void classes_are_counted(void)
{
    check_counts(&diamond, 5, 4, 0, 0);
    check_counts(&diamond, 13, 4, 8, 0);
    check_counts(&diamond, 25, 8, 12, 4);
    check_counts(&diamond, 41, 12, 16, 12);
    check_counts(&diamond, 61, 16, 20, 24);
    check_counts(&grid, 64, 14, 1, 48);
    check_counts(&grid, 1024, 62, 1, 960);
}

/* The paper's machines: 8 x 4 and 8 x 6 with the source in cell 28 of the
 * latter; each allotment is all cells within a distance. */
static void allotments_are_rings_on_a_grid(void)
{
    static const struct eki_dvs_option small = {
        EKI_LAYOUT_ALLOTTED, 8, 4, 11, -1, 0};
    static const struct eki_dvs_option large = {
        EKI_LAYOUT_ALLOTTED, 8, 6, 28, -1, 0};
    static const int of_small[] = {5, 12, 20, 27}, of_large[] = {5, 13, 24, 35};
    for (int d = 1; d <= 4; d++) {
        for (int more = 0; more < 2; more++) {
            struct eki_mesh mesh = lay(&small, of_small[d - 1] + more, 0);
            CHECK_EQ_INT(mesh.radius, d + more);
            eki_mesh_free(&mesh);
            mesh = lay(&large, of_large[d - 1] + more, 3);
            CHECK_EQ_INT(mesh.source, 3);
            CHECK_EQ_INT(mesh.radius, d + more);
            CHECK_EQ_INT(mesh.cells[3].x, 4);
            CHECK_EQ_INT(mesh.cells[3].y, 3);
            eki_mesh_free(&mesh);
        }
    }
    CHECK_EQ_INT(eki_mesh_room(&small), 32);
    CHECK_EQ_INT(eki_mesh_room(&large), 48);
}

/* Workers from whom tasks come to WORKER, directly or not. */
static int count_reached(int (*victims)[EKI_DVS_VICTIMS_MOST + 1], int count,
                         int from, bool is_backward)
{
    static bool is_reached[MOST];
    static int list[MOST];
    int reached = 1;
    memset(is_reached, 0, sizeof is_reached);
    is_reached[from] = true;
    list[0] = from;
    for (int next = 0; next < reached; next++) {
        for (int w = 0; w < count; w++) {
            int thief = is_backward ? w : list[next];
            int victim = is_backward ? list[next] : w;
            bool asks = false;
            for (int i = 1; i <= victims[thief][0]; i++)
                asks |= victims[thief][i] == victim;
            if (asks && !is_reached[w]) {
                is_reached[w] = true;
                list[reached++] = w;
            }
        }
    }
    return reached;
}

static void check_connected(const struct eki_dvs_option *shape, int count,
                            int source)
{
    static int victims[MOST][EKI_DVS_VICTIMS_MOST + 1];
    struct eki_mesh mesh = lay(shape, count, source);
    for (int w = 0; w < count; w++) {
        struct eki_dvs_list list;
        eki_dvs_list(&mesh, w, &list);
        CHECK(list.count > 0 || count == 1);
        victims[w][0] = list.count;
        for (int i = 0; i < list.count; i++) {
            CHECK(list.workers[i] != w);
            victims[w][1 + i] = list.workers[i];
        }
    }
    CHECK_EQ_INT(count_reached(victims, count, 0, false), count);
    CHECK_EQ_INT(count_reached(victims, count, 0, true), count);
    eki_mesh_free(&mesh);
}

static void everybody_reaches_everybody(void)
{
    const struct eki_dvs_option *shapes[] = {&line, &grid, &cube, &diamond};
    for (int s = 0; s < 4; s++) {
        for (int count = 1; count <= MOST; count += count < 60 ? 1 : 17) {
            check_connected(shapes[s], count, -1);
            check_connected(shapes[s], count, 0);
            check_connected(shapes[s], count, count - 1);
        }
        check_connected(shapes[s], MOST, -1);
    }
}

/* Around the source: clockwise from above, begun by each worker elsewhere. */
static void ties_are_broken_in_turn(void)
{
    static const int second[4][3] = {
        {3, 4, 2}, {1, 3, 4}, {1, 2, 4}, {2, 3, 1}};
    struct eki_mesh mesh = lay(&diamond, 41, 0);
    for (int w = 1; w < 5; w++) {
        struct eki_dvs_list list;
        eki_dvs_list(&mesh, w, &list);
        CHECK_EQ_INT(list.workers[0], 0);
        for (int i = 0; i < 3; i++)
            CHECK_EQ_INT(list.workers[1 + i], second[w - 1][i]);
    }
    eki_mesh_free(&mesh);
}

static void more_workers_than_cells_have_no_room(void)
{
    static const struct eki_dvs_option two = {
        EKI_LAYOUT_ALLOTTED, 2, 1, 0, -1, 0};
    struct eki_mesh mesh;
    CHECK(!eki_mesh_lay(&mesh, &two, 3, 0));
}

static void no_memory_is_told(void)
{
    for (int n = 1; n <= 2; n++) {
        struct eki_mesh mesh;
        eki_memory_fail(n);
        CHECK(!eki_mesh_lay(&mesh, &diamond, 5, 0));
    }
}

int main(void)
{
    RUN(five_by_five_is_the_papers);
    RUN(classes_are_counted);
    RUN(allotments_are_rings_on_a_grid);
    RUN(everybody_reaches_everybody);
    RUN(ties_are_broken_in_turn);
    RUN(more_workers_than_cells_have_no_room);
    RUN(no_memory_is_told);
    return check_result();
}
