/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Charts as SVG that flows with the page: two scales, and marks between them,
 * each with words for who points at it or moves over it by keys.
 *
 * A class is a number: it stands for a colour and a pattern of areas, or a
 * colour, a dash and a shape of lines.
 */
#ifndef CHART_H
#define CHART_H

#include "base/base.h"

enum unit {
    UNIT_COUNT,
    UNIT_PERCENT,
    UNIT_SECONDS,
    UNIT_TWOS /* powers of two: 64k is 65536 */
};

/* Values from LEAST to MOST. */
struct scale {
    const char *title;
    double least, most;
    enum unit unit;
    bool is_log, has_ticks;
    int from, to; /* pixels; the chart sets them */
};

enum {
    CHART_CLASSES = 17
};

struct chart {
    FILE *out;
    struct scale x, y;
};

/* LABEL says what is seen. */
void chart_open(struct chart *chart, const char *label);
/* Likewise, of a size in pixels. */
void chart_open_as(struct chart *chart, const char *label, int width,
                   int height);
void chart_close(struct chart *chart);

/* A number below or left of the axis, where the scale has no ticks. */
void chart_tick(const struct chart *chart, bool is_upright, double at,
                int64_t number);
/* An area of class I between two corners. */
void chart_bar(const struct chart *chart, int i, const double x[2],
               const double y[2], const char *words);
/* A cell of a map, dark by SHARE. */
void chart_cell(const struct chart *chart, const double x[2], const double y[2],
                double share, const char *words);
/* Many areas of one class (-1: of a map, dark by SHARE) in a row, with one text
 * for all of them: open it, add each, close it. */
void chart_row_open(const struct chart *chart, int i, double share,
                    const double y[2]);
void chart_row_add(const struct chart *chart, const double x[2],
                   const double y[2]);
void chart_row_close(const struct chart *chart, const char *words);
/* Words for a place where something else is drawn. */
void chart_over(const struct chart *chart, const double x[2], const double y[2],
                const char *words);
/* A mark of class I. */
void chart_dot(const struct chart *chart, int i, double x, double y,
               const char *words);
/* Lines of class I through points [count][x, y]. */
void chart_line(const struct chart *chart, int i, double (*points)[2],
                int count);
/* A rule across, with a word at its end, which is best left free. */
enum rule {
    RULE_UPRIGHT, /* at x */
    RULE_ABOVE,   /* at y, the word above it */
    RULE_BELOW
};
void chart_rule(const struct chart *chart, enum rule rule, double at,
                const char *words);

/* What classes mean; IS_LINE: those of lines. */
void key_open(FILE *out);
void key_add(FILE *out, int i, bool is_line, const char *words);
void key_close(FILE *out);
/* Patterns, once for a page. */
void chart_patterns(FILE *out);

#endif
