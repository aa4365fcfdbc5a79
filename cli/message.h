/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What went wrong, in words.
 *
 * A function that can fail because of its input returns false and writes a
 * message; every rank sees the same input, so every rank fails alike.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Begins what goes to stderr; each program defines its own. */
extern const char program_name[];

/** How a program ends. */
enum exit_status {
    EXIT_GOOD = 0,
    EXIT_FAILED = 1,
    EXIT_BAD_INPUT = 2
};

struct message {
    char text[512];
};

/**
 * Write a message.
 *
 * @return false, so that a failing function can return it.
 */
bool message_set(struct message *message, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/**
 * Leave a message empty: Evenkeel has said it.
 *
 * @return false, as message_set().
 */
bool message_leave(struct message *message);

/**
 * What rank 0 alone has done: whether it was good, on all ranks.
 *
 * Call: Collective over MPI_COMM_WORLD.
 */
bool first_rank_says(bool is_good, struct message *message);

/** Whether this is rank 0 of all, which prints. */
bool is_first_rank(void);

/**
 * Write a message to stderr, unless it is empty, by rank 0 alone.
 *
 * @return @p status, so that a failing program can return it.
 */
int complain(const struct message *message, int status);

/** How a program ends for what Evenkeel could not do, which has said why; a bad
 * policy is bad input. */
int complain_status(int status);

/**
 * Write what is left for standard output, the last thing a program does with
 * it, and say on stderr if not all could be written.
 *
 * @return @p status, but EXIT_FAILED if that was good and the output is not.
 */
int end_output(int status);

/** Zeroed memory for @p count items; ends the job when there is none. */
void *allocate(size_t count, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
