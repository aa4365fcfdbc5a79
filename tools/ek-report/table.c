/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables, text of others in markup, and the files they go to. */
#include "report.h"

#include "columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct escaped escaped(const char *text)
{
    struct escaped said = {""};
    for (; *text; text++) {
        const char *entity = *text == '<'   ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '&' ? "&amp;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (entity)
            eki_append(said.text, sizeof said.text, "%s", entity);
        else
            eki_append(said.text, sizeof said.text, "%c",
                       eki_is_control(*text) ? ' ' : *text);
    }
    return said;
}

void append_number(int64_t number, const char *what, char *text, size_t bytes)
{
    eki_append(text, bytes, "%" PRId64 " %s%s", number, what,
               number == 1 ? "" : "s");
}

void append_range(int64_t first, int64_t last, char *text, size_t bytes)
{
    eki_append(text, bytes, "%" PRId64, first);
    if (first != last)
        eki_append(text, bytes, "-%" PRId64, last);
}

FILE *open_output(const char *path, struct message *message)
{
    FILE *out = fopen(path, "w");
    if (!out)
        message_set(message, "cannot write '%.300s': %s", path,
                    strerror(errno));
    return out;
}

bool close_output(FILE *out, const char *path, struct message *message)
{
    bool is_good = !ferror(out);
    return (fclose(out) == 0 && is_good) ||
           message_set(message, "could not write everything to '%.300s': %s",
                       path, strerror(errno));
}

int split(char *line, char separator, char **fields, int most)
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at && count < most;) {
        fields[count++] = at;
        at = strchr(at, separator);
        if (at)
            *at++ = '\0';
    }
    return count;
}

int split_find(char **fields, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(fields[i], name) == 0)
            return i;
    }
    return -1;
}

const char *split_find_all(char **fields, int count, const char *const *names,
                           int wanted, int *columns)
{
    for (int i = 0; i < wanted; i++) {
        columns[i] = split_find(fields, count, names[i]);
        if (columns[i] < 0)
            return names[i];
    }
    return NULL;
}

void table_open(struct table *table, const char *key, const char *title,
                const char *columns)
{
    *table = (struct table){.key = key, .title = title};
    snprintf(table->titles, sizeof table->titles, "%s", columns);
    table->columns = split(table->titles, '|', table->column,
                           (int)(sizeof table->column / sizeof *table->column));
}

void table_row(struct table *table, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *at = text, *next; at; at = next) {
        next = strchr(at, '\t');
        if (next)
            *next++ = '\0';
        if (eki_grow(&table->cells, table->count, &table->room, 256,
                     sizeof *table->cells))
            table->cells[table->count++] = eki_copy_string(at);
    }
}

void table_close(struct table *table)
{
    for (int64_t i = 0; i < table->count; i++)
        eki_free(table->cells[i]);
    eki_free(table->cells);
}

static const char *cell_of(const struct table *table, int64_t row, int column)
{
    const char *cell = table->cells[row * table->columns + column];
    return cell ? cell : "";
}

void table_html(const struct table *table, FILE *out)
{
    fprintf(out,
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
            "aria-label=\"%s\"><table><thead><tr>",
            escaped(table->title).text);
    for (int i = 0; i < table->columns; i++)
        fprintf(out, "<th scope=\"col\">%s</th>",
                escaped(table->column[i]).text);
    fprintf(out, "</tr></thead><tbody>\n");
    for (int64_t row = 0; row < table->count / table->columns; row++) {
        fprintf(out, "<tr><th scope=\"row\">%s</th>",
                escaped(cell_of(table, row, 0)).text);
        for (int i = 1; i < table->columns; i++)
            fprintf(out, "<td>%s</td>", escaped(cell_of(table, row, i)).text);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, "</tbody></table></div>\n");
}

static int width_of(const struct table *table, int column)
{
    size_t width = strlen(table->column[column]);
    for (int64_t row = 0; row < table->count / table->columns; row++) {
        size_t length = strlen(cell_of(table, row, column));
        width = length > width ? length : width;
    }
    return (int)width;
}

void table_text(const struct table *table, FILE *out)
{
    int widths[sizeof table->column / sizeof *table->column];
    for (int i = 0; i < table->columns; i++)
        widths[i] = width_of(table, i);
    for (int64_t row = -1; row < table->count / table->columns; row++) {
        for (int i = 0; i < table->columns; i++) {
            const char *text =
                row < 0 ? table->column[i] : cell_of(table, row, i);
            fprintf(out, "%s%*s", i > 0 ? "  " : "", widths[i], text);
        }
        fputc('\n', out);
    }
}

void table_csv_head(FILE *out)
{
    fprintf(out, "run,table,row,column,value\n");
}

void table_csv(const struct table *table, const char *name, FILE *out)
{
    for (int64_t row = 0; row < table->count / table->columns; row++) {
        for (int i = 0; i < table->columns; i++) {
            struct label label[] = {{"run", .text = name},
                                    {"table", .text = table->key},
                                    {"row", .number = row},
                                    {"column", .text = table->column[i]},
                                    {"value", .text = cell_of(table, row, i)}};
            struct labels labels = {label, sizeof label / sizeof *label};
            labels_csv(&labels, out);
            fputc('\n', out);
        }
    }
}
