/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The message sink of the process, and how a process ends that cannot go on.
 *
 * Owns who receives lines, and who ends the job.  ek_set_sink() is not legal
 * while a collection is inside a call, so readers need no lock.
 */
#include "base/base.h"

#include <stdarg.h>
#include <string.h>

#define LINE_BYTES 1024

/* No variable has named a level; below all of them. */
#define LEVEL_UNSAID (EK_LEVEL_NONE - 1)

/* The cursor to the begin of its line, which is empty then. */
#define ERASE "\r\033[K"

/* The last line is one of eki_log_live(). */
static _Atomic bool is_live;

static bool take_live(void)
{
    /* relaxed, both: of interest to who has written it. */
    return atomic_load_explicit(&is_live, memory_order_relaxed) &&
           atomic_exchange_explicit(&is_live, false, memory_order_relaxed);
}

void eki_log_live(const char *line)
{
    if (take_live() || line)
        fprintf(stderr, ERASE "%s", line ? line : "");
    /* relaxed: as above. */
    if (line)
        atomic_store_explicit(&is_live, true, memory_order_relaxed);
}

static void stderr_write(ek_level level, const char *line, void *context)
{
    (void)level;
    (void)context;
    /* One call per line: lines of several ranks do not mix. */
    char text[LINE_BYTES + sizeof ERASE];
    int bytes =
        snprintf(text, sizeof text, "%s%s\n", take_live() ? ERASE : "", line);
    fwrite(text, 1, (size_t)bytes, stderr);
}

static struct {
    ek_sink_fn *write;
    void *context;
    ek_level level;
} sink = {stderr_write, NULL, EK_LEVEL_INFO};

bool eki_log_is_default(void)
{
    return sink.write == stderr_write;
}

/* Atomic, because any thread may create a collection while others log. */
static _Atomic int environment_level = LEVEL_UNSAID;
_Atomic int eki_log_level = EK_LEVEL_INFO;

/* What holds of the two levels. */
static void choose_level(void)
{
    /* relaxed, both: the level guards no other data. */
    int said = atomic_load_explicit(&environment_level, memory_order_relaxed);
    bool is_said = sink.write == stderr_write && said != LEVEL_UNSAID;
    atomic_store_explicit(&eki_log_level, is_said ? said : (int)sink.level,
                          memory_order_relaxed);
}

void ek_set_sink(ek_sink_fn *write, void *context, ek_level level)
{
    sink.write = write != NULL ? write : stderr_write;
    sink.context = context;
    sink.level = level;
    choose_level();
}

void eki_log_environment(ek_level level)
{
    /* relaxed: the level guards no other data. */
    atomic_store_explicit(&environment_level, (int)level, memory_order_relaxed);
    choose_level();
}

/* The default level passes INFO on, too, but nobody has asked for it. */
bool eki_log_is_told(void)
{
    /* relaxed: see eki_log_environment(). */
    int said = atomic_load_explicit(&environment_level, memory_order_relaxed);
    return said >= EK_LEVEL_INFO || eki_log_is_on(EK_LEVEL_DEBUG);
}

void eki_log(ek_level level, int rank, int size, const char *module,
             const char *format, ...)
{
    if (!eki_log_is_on(level))
        return;

    char line[LINE_BYTES] = "evenkeel ";
    if (rank >= 0)
        eki_append(line, sizeof line, "%d/%d ", rank, size);
    eki_append(line, sizeof line, "%s: ", module);

    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, sizeof line - used, format, arguments);
    va_end(arguments);
    sink.write(level, line, sink.context);
}

void eki_error_say(int rank, int size)
{
    if (eki_error_take())
        eki_log(EK_LEVEL_ERROR, rank, size, "error", "%s", ek_error_message());
}

void eki_error_say_rarely(int rank, int size)
{
    static _Thread_local uint64_t hash;
    static _Thread_local int64_t times, next;
    uint64_t now = eki_hash_text(0, ek_error_message());
    if (!eki_error_take())
        return;
    if (now != hash || times == 0)
        times = 0, next = 1;
    hash = now;
    if (++times < next)
        return;
    next *= 10;
    char head[32] = "";
    if (times > 1)
        eki_append(head, sizeof head, "%lld times: ", (long long)times);
    eki_log(EK_LEVEL_ERROR, rank, size, "error", "%s%s", head,
            ek_error_message());
}

static void (*_Atomic abort_by)(void);
static _Atomic int abort_rank = -1;

void eki_abort_by(void (*abort_job)(void), int rank)
{
    /* relaxed, both: a function and a number, which need no other data. */
    atomic_store_explicit(&abort_by, abort_job, memory_order_relaxed);
    atomic_store_explicit(&abort_rank, rank, memory_order_relaxed);
}

_Noreturn void eki_abort(void)
{
    /* relaxed: see eki_abort_by(). */
    void (*abort_job)(void) =
        atomic_load_explicit(&abort_by, memory_order_relaxed);
    fflush(NULL);
    if (abort_job != NULL)
        abort_job();
    abort();
}

enum {
    WIDTH = 100,
    PREFIX = 64, /* "evenkeel 0/163840 report: " and more */
    BELOW = 6    /* indent of what goes on */
};

/* Bytes of TEXT that fit into ROOM: up to a space, if there is one. */
static int fitting(const char *text, int room)
{
    int bytes = (int)strlen(text);
    if (bytes <= room)
        return bytes;
    for (int at = room; at > 0; at--) {
        if (text[at] == ' ')
            return at;
    }
    return room;
}

void eki_log_lines(ek_level level, int rank, int size, const char *module,
                   const char *text)
{
    char prefix[PREFIX];
    int used = snprintf(prefix, sizeof prefix, "evenkeel %d/%d %s: ", rank,
                        size, module);
    int indent = (int)strspn(text, " ");
    const char *at = text + indent;
    do {
        int bytes = fitting(at, WIDTH - used - indent);
        eki_log(level, rank, size, module, "%*s%.*s", indent, "", bytes, at);
        indent = BELOW;
        at += bytes;
        at += strspn(at, " ");
    } while (*at);
}

_Noreturn void eki_assert_failed(const char *condition, const char *file,
                                 int line)
{
    /* relaxed: see eki_abort_by(). */
    int rank = atomic_load_explicit(&abort_rank, memory_order_relaxed);
    char text[LINE_BYTES] = "evenkeel";
    if (rank >= 0)
        eki_append(text, sizeof text, " %d", rank);
    fprintf(stderr, "%s: %s:%d: broken: %s\n", text, file, line, condition);
    eki_abort();
}
