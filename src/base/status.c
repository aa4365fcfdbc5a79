/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statuses, the message of each thread's last failure, text that is put
 * together, and the version.
 *
 * Owns the thread-local message.  Whoever first knows a failure writes it;
 * callers pass the status on.
 */
#include "base/base.h"

#include <stdarg.h>
#include <string.h>

#define MESSAGE_BYTES 1024

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) \
    TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

static _Thread_local struct {
    char text[MESSAGE_BYTES];
    ek_status status;
    bool is_new; /* nobody has given it to the sink */
} last;

ek_status eki_error(ek_status status, const char *format, ...)
{
    /* Written aside first: the arguments may contain the old message. */
    char text[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(last.text, sizeof last.text, "%s", text);
    last.status = status;
    last.is_new = true;
    return status;
}

bool eki_error_take(void)
{
    bool is_new = last.is_new;
    last.is_new = false;
    return is_new;
}

const char *ek_error_message(void)
{
    return last.text;
}

ek_status ek_error_status(void)
{
    return last.status;
}

const char *ek_status_string(ek_status status)
{
    static const char *const names[] = {[-EK_OK] = "EK_OK",
                                        [-EK_ERR_ARG] = "EK_ERR_ARG",
                                        [-EK_ERR_STATE] = "EK_ERR_STATE",
                                        [-EK_ERR_NOMEM] = "EK_ERR_NOMEM",
                                        [-EK_ERR_MPI] = "EK_ERR_MPI",
                                        [-EK_ERR_THREAD] = "EK_ERR_THREAD",
                                        [-EK_ERR_TASK] = "EK_ERR_TASK",
                                        [-EK_ERR_FILE] = "EK_ERR_FILE"};
    const unsigned count = sizeof names / sizeof *names;
    unsigned at = 0U - (unsigned)status;
    return at < count && names[at] ? names[at] : "unknown status";
}

const char *ek_version(void)
{
    return VERSION_TEXT(EK_VERSION_MAJOR, EK_VERSION_MINOR, EK_VERSION_PATCH);
}

void eki_append(char *text, size_t bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}
