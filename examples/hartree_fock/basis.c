/* SPDX-License-Identifier: BSD-3-Clause */
#include "basis.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a basis set and what was read of it so far. */
struct reader {
    const char *cursor;
    const char *path;
    int line_number;
    char line[256];
    bool is_spherical;
    bool is_needed[ELEMENT_MAX + 1];
    struct message *message;
};

/* A shell of an element: its numbers start at an offset, exponents first. */
struct pattern {
    int element;
    int momentum;
    int primitives;
    size_t offset;
};

/* All shells read. */
struct library {
    struct pattern *pattern;
    int patterns, pattern_room;
    double *number;
    size_t numbers, number_room;
};

static void *grow(void *items, size_t used, size_t room, size_t bytes)
{
    void *grown = allocate(room, bytes);
    if (used > 0)
        memcpy(grown, items, used * bytes);
    free(items);
    return grown;
}

static double *library_add(struct library *library, int element, int momentum,
                           int primitives)
{
    if (library->patterns == library->pattern_room) {
        library->pattern_room = 2 * library->pattern_room + 64;
        library->pattern =
            grow(library->pattern, (size_t)library->patterns,
                 (size_t)library->pattern_room, sizeof(struct pattern));
    }
    size_t count = 2 * (size_t)primitives;
    if (library->numbers + count > library->number_room) {
        library->number_room = 2 * library->number_room + count + 1024;
        library->number = grow(library->number, library->numbers,
                               library->number_room, sizeof(double));
    }
    struct pattern pattern = {element, momentum, primitives, library->numbers};
    library->pattern[library->patterns++] = pattern;
    library->numbers += count;
    return library->number + pattern.offset;
}

static bool reader_fail(struct reader *reader, const char *expected)
{
    return message_set(reader->message, "%s: line %d is '%.60s'; expected %s",
                       reader->path, reader->line_number, reader->line,
                       expected);
}

/* Take in a comment, or a line with nothing but "cartesian" or "spherical". */
static bool reader_remark(struct reader *reader)
{
    const char *line = reader->line;
    bool is_comment = line[0] == '!';
    if (strncmp(line, "cartesian", 9) == 0 ||
        (is_comment && strstr(line, "native function type: cartesian")))
        reader->is_spherical = false;
    else if (strncmp(line, "spherical", 9) == 0 ||
             (is_comment && strstr(line, "native function type: spherical")))
        reader->is_spherical = true;
    else
        return is_comment || line[strspn(line, " \t\v\f")] == '\0';
    return true;
}

/* Move to the next line that is neither blank nor a comment. */
static bool reader_next(struct reader *reader)
{
    while (*reader->cursor != '\0') {
        size_t length = strcspn(reader->cursor, "\n");
        snprintf(reader->line, sizeof reader->line, "%.*s", (int)length,
                 reader->cursor);
        reader->line[strcspn(reader->line, "\r")] = '\0';
        reader->cursor += length + (reader->cursor[length] == '\n');
        reader->line_number++;
        if (!reader_remark(reader))
            return true;
    }
    return false;
}

/* Read @p count numbers of a line; exponents of ten may be written 1.0D-02. */
static bool reader_numbers(struct reader *reader, int count, double *value)
{
    char copy[sizeof reader->line];
    char *cursor = copy;
    for (size_t i = 0; i < sizeof copy; i++) {
        char letter = reader->line[i];
        copy[i] = letter == 'D' || letter == 'd' ? 'e' : letter;
    }
    for (int i = 0; i < count; i++) {
        char *end;
        value[i] = strtod(cursor, &end);
        if (end == cursor || !isfinite(value[i]))
            return false;
        cursor = end;
    }
    return cursor[strspn(cursor, " \t")] == '\0';
}

/* Angular momentum of "S" ... "H"; -1: not one of these. */
static int momentum_of(const char *name)
{
    static const char letters[] = "SPDFGH";
    const char *found = strchr(letters, toupper((unsigned char)name[0]));
    if (name[0] == '\0' || name[1] != '\0' || !found)
        return -1;
    return (int)(found - letters);
}

static bool is_sp(const char *name)
{
    return toupper((unsigned char)name[0]) == 'S' &&
           toupper((unsigned char)name[1]) == 'P' && name[2] == '\0';
}

/* Read the primitives of a shell; columns is 2, or 3 for an SP shell. */
static bool read_primitives(struct reader *reader, struct library *library,
                            const struct pattern *shell, double scale,
                            int columns)
{
    int n = shell->primitives;
    size_t first = library->numbers;
    for (int column = 1; column < columns; column++)
        library_add(library, shell->element, shell->momentum + column - 1, n);
    double *number = library->number + first;
    for (int p = 0; p < n; p++) {
        double row[3];
        if (!reader_next(reader))
            return message_set(reader->message,
                               "%s: the file ends inside a shell",
                               reader->path);
        if (!reader_numbers(reader, columns, row) || row[0] <= 0)
            return reader_fail(reader,
                               columns == 3
                                   ? "a positive exponent and two coefficients"
                                   : "a positive exponent and a coefficient");
        for (int column = 1; column < columns; column++) {
            double *block = number + 2 * n * (column - 1);
            block[p] = row[0] * scale * scale;
            if (!isfinite(block[p]))
                return reader_fail(reader, "a smaller exponent");
            block[n + p] = row[column];
        }
    }
    return true;
}

static bool read_shell(struct reader *reader, struct library *library,
                       int element)
{
    char name[8] = "";
    int primitives = 0;
    double scale = 1;
    int fields = sscanf(reader->line, "%7s %d %lf", name, &primitives, &scale);
    int momentum = is_sp(name) ? 0 : momentum_of(name);
    if (fields < 2 || momentum < 0 || primitives < 1 || primitives > 1000 ||
        !(scale > 0) || !isfinite(scale))
        return reader_fail(reader,
                           "a shell (S, P, SP, D, F, G or H), its number of "
                           "primitives and a scale factor");
    struct pattern shell = {element, momentum, primitives, 0};
    return read_primitives(reader, library, &shell, scale, is_sp(name) ? 3 : 2);
}

static bool is_separator(const struct reader *reader)
{
    return strncmp(reader->line, "****", 4) == 0;
}

/* Read the shells of one element, to its "****" or the end of the file. */
static bool read_element(struct reader *reader, struct library *library)
{
    char symbol[16];
    if (sscanf(reader->line, " -%15s", symbol) != 1 &&
        sscanf(reader->line, "%15s", symbol) != 1)
        return reader_fail(reader, "an element");
    int element = element_number(symbol);
    bool is_needed = element > 0 && reader->is_needed[element];
    while (reader_next(reader) && !is_separator(reader)) {
        if (is_needed && !read_shell(reader, library, element))
            return false;
    }
    return true;
}

static bool read_library(struct reader *reader, struct library *library)
{
    while (reader_next(reader)) {
        if (!is_separator(reader) && !read_element(reader, library))
            return false;
    }
    return true;
}

static int count_of_element(const struct library *library, int element)
{
    int count = 0;
    for (int i = 0; i < library->patterns; i++)
        count += library->pattern[i].element == element;
    return count;
}

static bool check_elements(const struct reader *reader,
                           const struct library *library)
{
    for (int element = 1; element <= ELEMENT_MAX; element++) {
        if (reader->is_needed[element] &&
            count_of_element(library, element) == 0)
            return message_set(reader->message,
                               "%s: no basis functions for element %s, which "
                               "the molecule contains",
                               reader->path, element_symbol(element));
    }
    return true;
}

static struct shell shell_make(const struct pattern *pattern,
                               const double *numbers, bool is_spherical)
{
    int l = pattern->momentum;
    struct shell shell = {0};
    shell.momentum = l;
    shell.is_spherical = is_spherical && l >= 2;
    shell.primitives = pattern->primitives;
    shell.exponent = numbers + pattern->offset;
    shell.coefficient = shell.exponent + pattern->primitives;
    shell.functions = shell.is_spherical ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
    return shell;
}

/* Give each atom the shells of its element; takes the numbers over. */
static void basis_place(struct basis *basis, const struct molecule *molecule,
                        struct library *library, bool is_spherical)
{
    int shells = 0;
    for (int a = 0; a < molecule->atoms; a++)
        shells += count_of_element(library, molecule->atom[a].element);
    basis->numbers = library->number;
    library->number = NULL;
    basis->shell = allocate((size_t)shells, sizeof(struct shell));
    basis->first_of_atom = allocate((size_t)molecule->atoms + 1, sizeof(int));
    for (int a = 0; a < molecule->atoms; a++) {
        for (int i = 0; i < library->patterns; i++) {
            if (library->pattern[i].element != molecule->atom[a].element)
                continue;
            struct shell shell =
                shell_make(&library->pattern[i], basis->numbers, is_spherical);
            shell.atom = a;
            shell.first = basis->functions;
            basis->functions += shell.functions;
            basis->shell[basis->shells++] = shell;
        }
        basis->first_of_atom[a + 1] = basis->shells;
    }
}

bool basis_parse(const char *text, const char *path,
                 const struct molecule *molecule, struct basis *basis,
                 struct message *message)
{
    struct library library = {0};
    struct reader reader = {
        .cursor = text, .path = path, .is_spherical = true, .message = message};
    *basis = (struct basis){0};
    for (int a = 0; a < molecule->atoms; a++)
        reader.is_needed[molecule->atom[a].element] = true;
    bool is_read =
        read_library(&reader, &library) && check_elements(&reader, &library);
    if (is_read)
        basis_place(basis, molecule, &library, reader.is_spherical);
    free(library.pattern);
    free(library.number);
    return is_read;
}

void basis_free(struct basis *basis)
{
    free(basis->shell);
    free(basis->numbers);
    free(basis->first_of_atom);
    *basis = (struct basis){0};
}
