/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments. */
#include "tool.h"

static const char help[] =
    "usage: ek-record COMMAND ...\n"
    "\n"
    "  summary FILE       what each iteration of a record was: a table\n"
    "  text FILE          the record as text, one line per task\n"
    "  binary TEXT FILE   the text as a record; TEXT may be -\n"
    "  import [options] RAW FILE\n"
    "                     little-endian 32-bit durations as a record of one\n"
    "                     worker and one iteration; RAW may be -\n"
    "  --help             this text\n"
    "\n"
    "options of import\n"
    "  --function NAME    of the tasks (default task)\n"
    "  --type f32|u32     of the durations (default f32)\n"
    "  --scale NS         nanoseconds per unit (default 1000: microseconds)\n"
    "  --ids FILE         32-bit ids of the tasks (default 0, 1, 2, ...)\n"
    "  --gaps             the ids are differences to the one before\n"
    "  --nulls N          null tasks beside them (default 0)\n"
    "  --every K          take each K-th task, from the first on (default 1)\n"
    "\n"
    "EVENKEEL_RECORD=FILE.ekr makes a program write a record; docs/record.md\n"
    "says what is in it and explains the columns of the summary.\n";

static int bad_use(const char *what, const char *which, const char *allowed)
{
    tool_say("%s '%s' is not allowed; allowed: %s", what, which ? which : "",
             allowed);
    return TOOL_BAD_USE;
}

/* A name of a function, as ek_register() takes it. */
static bool is_function(const char *text)
{
    return text[0] && strlen(text) < sizeof((struct eki_record_shape *)0)->name;
}

static bool read_scale(const char *text, double *scale_ns)
{
    char *end;
    *scale_ns = strtod(text, &end);
    return end != text && *end == '\0' && *scale_ns > 0 && *scale_ns <= 1e18;
}

/* Take one option of import and its VALUE; 0, or the exit status. */
static int read_value(struct tool_import *import, const char *option,
                      const char *value)
{
    if (strcmp(option, "--function") == 0) {
        import->function = value;
        return is_function(value)
                   ? 0
                   : bad_use(option, value, "1 to 63 characters");
    }
    if (strcmp(option, "--type") == 0) {
        import->is_integer = strcmp(value, "u32") == 0;
        return import->is_integer || strcmp(value, "f32") == 0
                   ? 0
                   : bad_use(option, value, "f32, u32");
    }
    if (strcmp(option, "--scale") == 0)
        return read_scale(value, &import->scale_ns)
                   ? 0
                   : bad_use(option, value, "0 < NS <= 1e18");
    if (strcmp(option, "--ids") == 0) {
        import->ids = value;
        return 0;
    }
    if (strcmp(option, "--nulls") == 0)
        return tool_number(value, INT64_MAX / 2, &import->nulls)
                   ? 0
                   : bad_use(option, value, "0 ... 4611686018427387903");
    if (strcmp(option, "--every") == 0)
        return tool_number(value, UINT32_MAX, &import->every) &&
                       import->every > 0
                   ? 0
                   : bad_use(option, value, "1 ... 4294967295");
    return bad_use("option", option,
                   "--function, --type, --scale, --ids, --gaps, --nulls, "
                   "--every");
}

static int run_import(char *const *arguments)
{
    struct tool_import import = {
        .function = "task", .scale_ns = 1000, .every = 1};
    while (*arguments && strncmp(*arguments, "--", 2) == 0) {
        if (strcmp(*arguments, "--gaps") == 0) {
            import.has_gaps = true;
            arguments++;
            continue;
        }
        int bad = arguments[1] ? read_value(&import, arguments[0], arguments[1])
                               : bad_use("option without value:", arguments[0],
                                         "import [options] RAW FILE");
        if (bad)
            return bad;
        arguments += 2;
    }
    if (!arguments[0] || !arguments[1] || arguments[2])
        return bad_use("import without its two files or with more:",
                       arguments[0], "import [options] RAW FILE");
    import.raw = arguments[0];
    import.path = arguments[1];
    return tool_import(&import);
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";
    if (argc == 2 && strcmp(command, "--help") == 0)
        return fputs(help, stdout) < 0;
    if (argc == 3 && strcmp(command, "summary") == 0)
        return tool_summary(argv[2]);
    if (argc == 3 && strcmp(command, "text") == 0)
        return tool_text(argv[2]);
    if (argc == 4 && strcmp(command, "binary") == 0)
        return tool_binary(argv[2], argv[3]);
    if (strcmp(command, "import") == 0)
        return run_import(argv + 2);
    return bad_use("command", command,
                   "summary FILE, text FILE, binary TEXT FILE, import "
                   "[options] RAW FILE, --help");
}
