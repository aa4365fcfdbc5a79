/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart.h"

#include "report.h"

#include <inttypes.h>
#include <math.h>

enum {
    WIDTH = 560, /* of most charts */
    HEIGHT = 300,
    LEFT = 80,
    RIGHT = 16,
    TOP = 30,
    BOTTOM = 46,
    MARK = 5
};

/* What is drawn over the colour of a class, so that it does without colours. */
static const char *const hatches[CHART_CLASSES] = {
    "",
    "M0 0l8 8M-2 6l4 4M6 -2l4 4",
    "M0 4h8",
    "M4 0v8",
    "M0 8l8 -8M-2 2l4 -4M6 10l4 -4",
    "M2 2h1M6 6h1",
    "M0 4h8M4 0v8",
    "M0 0l8 8M0 8l8 -8",
    "M0 2h8M0 6h8",
    "M2 0v8M6 0v8",
    "M0 0l8 8M-2 6l4 4M6 -2l4 4",
    "M2 6h1M6 2h1",
    "M0 8l8 -8",
    "M0 4h8M2 0v8",
    "M0 4l4 -4l4 4",
    "M1 1h2M5 5h2",
    "M0 2h4M4 6h4"};

/* Shapes around (0, 0). */
static const char *const shapes[] = {"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
                                     "M-4 -4h8v8h-8z",
                                     "M0 -5l5 9h-10z",
                                     "M0 -5l5 5l-5 5l-5 -5z",
                                     "M-4 -4l8 8M-4 4l8 -8",
                                     "M0 5l5 -9h-10z"};

static const char *shape_of(int i)
{
    return shapes[i % (int)(sizeof shapes / sizeof *shapes)];
}

static double scale_at(const struct scale *scale, double value)
{
    double share =
        scale->is_log
            ? log(value / scale->least) / log(scale->most / scale->least)
            : (value - scale->least) / (scale->most - scale->least);
    share = fmax(fmin(share, 1), 0);
    return scale->from + share * (scale->to - scale->from);
}

static double chart_x(const struct chart *chart, double x)
{
    return scale_at(&chart->x, x);
}

static double chart_y(const struct chart *chart, double y)
{
    return scale_at(&chart->y, y);
}

/* A value as ticks have it. */
static void append_value(enum unit unit, double value, char *text, size_t bytes)
{
    if (unit == UNIT_SECONDS)
        eki_append(text, bytes, "%s",
                   value == 0 ? "0" : eki_seconds(value).text);
    else if (unit == UNIT_PERCENT)
        eki_append(text, bytes, "%.4g %%", value);
    else if (value >= 1e6)
        eki_append(text, bytes, "%.4g M", value * 1e-6);
    else if (value >= 1e4)
        eki_append(text, bytes, "%.4g k", value * 1e-3);
    else
        eki_append(text, bytes, "%.4g", value);
}

static void write_tick(const struct chart *chart, bool is_upright, double at,
                       const char *text)
{
    fprintf(chart->out,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
            is_upright ? LEFT - 6 : chart_x(chart, at),
            is_upright ? chart_y(chart, at) + 4 : chart->y.from + 18.0,
            is_upright ? "end" : "middle", text);
}

void chart_tick(const struct chart *chart, bool is_upright, double at,
                int64_t number)
{
    enum unit unit = is_upright ? chart->y.unit : chart->x.unit;
    bool is_k = unit == UNIT_TWOS && number >= 1024;
    char text[24];
    snprintf(text, sizeof text, is_k ? "%" PRId64 "k" : "%" PRId64,
             is_k ? number / 1024 : number);
    write_tick(chart, is_upright, at, text);
}

static void tick(const struct chart *chart, bool is_upright, double value)
{
    char text[40] = "";
    append_value(is_upright ? chart->y.unit : chart->x.unit, value, text,
                 sizeof text);
    if (is_upright)
        fprintf(chart->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT,
                chart_y(chart, value), chart->x.to);
    else
        fprintf(chart->out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>",
                chart_x(chart, value), TOP, chart->y.from);
    write_tick(chart, is_upright, value, text);
}

/* 1, 2 or 5 times a power of ten, at least STEP. */
static double round_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double rest = step / power;
    return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

static void ticks(const struct chart *chart, bool is_upright)
{
    enum {
        WANTED = 5
    };
    const struct scale *scale = is_upright ? &chart->y : &chart->x;
    if (!scale->has_ticks)
        return;
    if (!scale->is_log) {
        double step = round_step((scale->most - scale->least) / WANTED);
        double first = ceil(scale->least / step) * step;
        for (int i = 0; first + i * step <= scale->most * (1 + 1e-9); i++)
            tick(chart, is_upright, first + i * step);
        return;
    }
    double decades = log10(scale->most / scale->least);
    int step = decades > 2 * WANTED ? 3 : decades > WANTED ? 2 : 1;
    for (int e = (int)ceil(log10(scale->least) - 1e-9);
         pow(10, e) <= scale->most * (1 + 1e-9); e++) {
        if (e % step == 0)
            tick(chart, is_upright, pow(10, e));
    }
}

void chart_open_as(struct chart *chart, const char *label, int width,
                   int height)
{
    FILE *out = chart->out;
    chart->x.from = LEFT;
    chart->x.to = width - RIGHT;
    chart->y.from = height - BOTTOM;
    chart->y.to = TOP;
    fprintf(out,
            "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "tabindex=\"0\" aria-label=\"%s. Arrow keys tell of each mark; a "
            "table follows.\">\n",
            width, height, escaped(label).text);
    fprintf(out, "<text class=\"axis\" x=\"4\" y=\"14\">%s</text>\n",
            escaped(chart->y.title).text);
    fprintf(out,
            "<text class=\"axis\" x=\"%d\" y=\"%d\" "
            "text-anchor=\"end\">%s</text>\n",
            chart->x.to, height - 8, escaped(chart->x.title).text);
    ticks(chart, true);
    ticks(chart, false);
}

void chart_open(struct chart *chart, const char *label)
{
    chart_open_as(chart, label, WIDTH, HEIGHT);
}

void chart_close(struct chart *chart)
{
    fprintf(chart->out, "<path class=\"frame\" d=\"M%d %dV%dH%d\"/></svg>\n",
            LEFT, TOP, chart->y.from, chart->x.to);
}

static void rectangle(const struct chart *chart, const char *look,
                      const double x[2], const double y[2], const char *words)
{
    double left = chart_x(chart, x[0]), top = chart_y(chart, y[1]);
    fprintf(chart->out,
            "<rect %s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
            "<title>%s</title></rect>\n",
            look, left, top, fmax(chart_x(chart, x[1]) - left, 0.5),
            chart_y(chart, y[0]) - top, escaped(words).text);
}

void chart_bar(const struct chart *chart, int i, const double x[2],
               const double y[2], const char *words)
{
    char look[40];
    snprintf(look, sizeof look, "fill=\"url(#p%d)\"", i);
    rectangle(chart, look, x, y, words);
}

void chart_cell(const struct chart *chart, const double x[2], const double y[2],
                double share, const char *words)
{
    char look[60];
    snprintf(look, sizeof look, "class=\"cell\" fill-opacity=\"%.2f\"", share);
    rectangle(chart, look, x, y, words);
}

void chart_row_open(const struct chart *chart, int i, double share,
                    const double y[2])
{
    if (i < 0)
        fprintf(chart->out, "<path class=\"heat\" stroke-opacity=\"%.2f\"",
                share);
    else
        fprintf(chart->out, "<path class=\"strip\" stroke=\"url(#p%d)\"", i);
    fprintf(chart->out, " stroke-width=\"%.1f\" d=\"",
            chart_y(chart, y[0]) - chart_y(chart, y[1]));
}

void chart_row_add(const struct chart *chart, const double x[2],
                   const double y[2])
{
    double left = chart_x(chart, x[0]);
    fprintf(chart->out, "M%.5g %.4gh%.3g", left,
            (chart_y(chart, y[0]) + chart_y(chart, y[1])) / 2,
            chart_x(chart, x[1]) - left);
}

void chart_row_close(const struct chart *chart, const char *words)
{
    fprintf(chart->out, "\"><title>%s</title></path>\n", escaped(words).text);
}

void chart_over(const struct chart *chart, const double x[2], const double y[2],
                const char *words)
{
    rectangle(chart, "class=\"over\"", x, y, words);
}

void chart_dot(const struct chart *chart, int i, double x, double y,
               const char *words)
{
    fprintf(chart->out,
            "<path class=\"dot l%d\" transform=\"translate(%.1f %.1f)\" "
            "d=\"%s\"><title>%s</title></path>\n",
            i, chart_x(chart, x), chart_y(chart, y), shape_of(i),
            escaped(words).text);
}

void chart_line(const struct chart *chart, int i, double (*points)[2],
                int count)
{
    if (count == 0)
        return;
    fprintf(chart->out, "<path class=\"line l%d\" d=\"M", i);
    for (int k = 0; k < count; k++)
        fprintf(chart->out, "%s%.1f %.1f", k > 0 ? "L" : "",
                chart_x(chart, points[k][0]), chart_y(chart, points[k][1]));
    fprintf(chart->out, "\"/>\n");
}

void chart_rule(const struct chart *chart, enum rule rule, double at,
                const char *words)
{
    bool is_upright = rule == RULE_UPRIGHT;
    double x = is_upright ? chart_x(chart, at) : LEFT;
    double y = is_upright ? TOP : chart_y(chart, at);
    /* Words stand where there is room for them. */
    bool is_end = !is_upright || x > (LEFT + chart->x.to) / 2.0;
    double word_x = is_upright ? x : chart->x.to;
    double word_y = y + (rule == RULE_ABOVE ? -MARK : 3 * MARK);
    fprintf(chart->out, "<path class=\"rule\" d=\"M%.1f %.1f%c%d\"/>\n", x, y,
            is_upright ? 'V' : 'H', is_upright ? chart->y.from : chart->x.to);
    fprintf(chart->out,
            "<text class=\"word\" x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"%s\">%s</text>\n",
            word_x + (is_end ? -MARK : MARK), word_y, is_end ? "end" : "start",
            escaped(words).text);
}

void key_open(FILE *out)
{
    fprintf(out, "<ul class=\"key\">");
}

void key_add(FILE *out, int i, bool is_line, const char *words)
{
    fprintf(out, "<li><svg viewBox=\"0 0 28 14\" aria-hidden=\"true\">");
    if (is_line)
        fprintf(out,
                "<path class=\"line l%d\" d=\"M0 7H28\"/><path class=\"dot "
                "l%d\" transform=\"translate(14 7)\" d=\"%s\"/>",
                i, i, shape_of(i));
    else
        fprintf(out, "<rect fill=\"url(#p%d)\" width=\"28\" height=\"14\"/>",
                i);
    fprintf(out, "</svg>%s</li>\n", escaped(words).text);
}

void key_close(FILE *out)
{
    fprintf(out, "</ul>\n");
}

void chart_patterns(FILE *out)
{
    fprintf(out, "<svg class=\"patterns\" aria-hidden=\"true\"><defs>");
    for (int i = 0; i < CHART_CLASSES; i++)
        fprintf(out,
                "<pattern id=\"p%d\" width=\"8\" height=\"8\" "
                "patternUnits=\"userSpaceOnUse\"><rect class=\"c%d\" "
                "width=\"8\" height=\"8\"/><path class=\"hatch\" "
                "d=\"%s\"/></pattern>\n",
                i, i, hatches[i]);
    fprintf(out, "</defs></svg>\n");
}
