/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, inputs, and the words of the text. */
#define _POSIX_C_SOURCE 200809L
#include "tool.h"

#include "base/options.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

#define POLICY(key_, option_, field)    \
    .key = (key_), .option = (option_), \
    .offset = offsetof(struct eki_record_head, field)

const struct tool_policy tool_policies[TOOL_POLICIES] = {
    {POLICY("restore", "restore", restore)},
    {POLICY("steal", "steal", steal)},
    {POLICY("order", "order", order)},
    {POLICY("on_failure", "on_failure", on_failure)}};

/* Before the first iteration nothing is restored. */
static const char none[] = "none";

static bool is_restore(const struct tool_policy *policy)
{
    return policy == &tool_policies[0];
}

const char *tool_policy_name(const struct tool_policy *policy, int value)
{
    if (is_restore(policy) && value == EK_RESTORE_DEFAULT)
        return none;
    return eki_option_choice_name(policy->option, value);
}

bool tool_policy_value(const struct tool_policy *policy, const char *word,
                       int *value)
{
    uint64_t number;
    if (is_restore(policy) && strcmp(word, none) == 0) {
        *value = EK_RESTORE_DEFAULT;
        return true;
    }
    if (!tool_number(word, UINT8_MAX, &number))
        return eki_choice_read(eki_option_choices(policy->option), word,
                               strlen(word), value);
    *value = (int)number;
    return true;
}

const char tool_flag_letters[] = "dscbphy";

void tool_print_flags(int flags)
{
    for (int i = 0; tool_flag_letters[i]; i++) {
        if (flags & 1 << i)
            putchar(tool_flag_letters[i]);
    }
    if (!flags)
        putchar('-');
}

void tool_print_payload(const struct eki_record_iteration *iteration,
                        int64_t task)
{
    const struct eki_record_payload *payload =
        eki_record_payload_of(iteration, task);
    for (int i = 0; payload && i < payload->bytes; i++)
        printf("%02x", payload->data[i]);
}

void tool_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

int tool_end(ek_status status)
{
    if (status == EK_OK)
        return EXIT_GOOD;
    tool_say("%s", ek_error_message());
    return status == EK_ERR_ARG ? EXIT_BAD_INPUT : EXIT_FAILED;
}

/* What the library says of a file that was given. */
static ek_status given(ek_status status)
{
    return status == EK_ERR_FILE ? EK_ERR_ARG : status;
}

ek_status tool_load(struct eki_record *record, int64_t number,
                    struct eki_record_iteration *iteration)
{
    return given(eki_record_load(record, number, iteration));
}

ek_status tool_open(const char *path, struct eki_record **record)
{
    EKI_TRY(given(eki_record_open(path, record)));
    if (!(*record)->is_complete)
        tool_say("'%s': %s", path, (*record)->warning);
    return EK_OK;
}

FILE *tool_open_input(const char *path)
{
    if (strcmp(path, "-") == 0)
        return stdin;
    FILE *file = fopen(path, "rb");
    if (!file)
        tool_say("cannot read '%s': %s", path, strerror(errno));
    return file;
}

bool tool_is_other(const char *input, const char *output)
{
    struct stat in, out;
    if (stat(input, &in) != 0 || stat(output, &out) != 0 ||
        in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return true;
    tool_say("'%s' and '%s' are one file; allowed: two", input, output);
    return false;
}

void tool_close(FILE *file)
{
    if (file && file != stdin)
        fclose(file);
}

bool tool_number(const char *word, uint64_t most, uint64_t *value)
{
    char *end;
    if (word[0] < '0' || word[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(word, &end, 10);
    return *end == '\0' && errno == 0 && *value <= most;
}

void tool_print_name(const char *name)
{
    for (; *name; name++) {
        unsigned char byte = (unsigned char)*name;
        if (eki_is_control(*name) || byte == '\\')
            printf("\\x%02x", byte);
        else
            putchar(byte);
    }
}
