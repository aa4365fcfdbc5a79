/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "base/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static const struct asking {
    const char *name;
    int number;
    enum eki_request request;
} asking[] = {
    {"USR1", SIGUSR1, EKI_REQUEST_STOP}, {"TERM", SIGTERM, EKI_REQUEST_STOP},
    {"INT", SIGINT, EKI_REQUEST_STOP},   {"HUP", SIGHUP, EKI_REQUEST_STOP},
    {"XCPU", SIGXCPU, EKI_REQUEST_STOP}, {"USR2", SIGUSR2, EKI_REQUEST_TELL}};

enum {
    ASKING = sizeof asking / sizeof asking[0]
};

static struct {
    struct sigaction before;
    struct sigaction after; /* of who had taken it since, and may call us */
    int users;
} taken[ASKING];
static _Atomic unsigned counts[EKI_REQUESTS];
static _Atomic uint64_t last_ns[EKI_REQUESTS];

bool eki_signals_read(const char *list, unsigned *set)
{
    *set = 0;
    if (strcmp(list, "0") == 0)
        return true;
    for (const char *at = list;; at++) {
        size_t bytes = strcspn(at, ",");
        int i = 0;
        while (i < ASKING && (strncmp(at, asking[i].name, bytes) != 0 ||
                              asking[i].name[bytes] != '\0'))
            i++;
        if (i == ASKING || *set >> i & 1)
            return false;
        *set |= 1u << i;
        at += bytes;
        if (*at == '\0')
            return true;
    }
}

static void count_request(int number, siginfo_t *info, void *context)
{
    int saved = errno, i = 0;
    while (asking[i].number != number)
        i++;
    /* relaxed: the release below orders it. */
    atomic_store_explicit(&last_ns[asking[i].request], eki_clock_ns(),
                          memory_order_relaxed);
    /* release: pairs with the acquire in eki_signals_count(): its moment. */
    atomic_fetch_add_explicit(&counts[asking[i].request], 1,
                              memory_order_release);
    const struct sigaction *before = &taken[i].before;
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
    errno = saved;
}

static bool is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO &&
           action->sa_sigaction == count_request;
}

static bool is_handler_of(const struct sigaction *a, const struct sigaction *b)
{
    if ((a->sa_flags ^ b->sa_flags) & SA_SIGINFO)
        return false;
    return a->sa_flags & SA_SIGINFO
               ? a->sa_sigaction == b->sa_sigaction
               : a->sa_handler != SIG_DFL && a->sa_handler == b->sa_handler;
}

void eki_signals_take(unsigned set)
{
    for (int i = 0; i < ASKING; i++) {
        struct sigaction now;
        if (!(set >> i & 1) || taken[i].users++ > 0)
            continue;
        sigaction(asking[i].number, NULL, &now);
        /* Two that call each other would never end. */
        if (is_ours(&now) || is_handler_of(&now, &taken[i].after))
            continue;
        taken[i].before = now;
        struct sigaction ours = {.sa_flags =
                                     SA_SIGINFO | SA_RESTART |
                                     (taken[i].before.sa_flags & SA_ONSTACK)};
        ours.sa_sigaction = count_request;
        ours.sa_mask = taken[i].before.sa_mask;
        sigaction(asking[i].number, &ours, NULL);
    }
}

void eki_signals_leave(unsigned set)
{
    for (int i = 0; i < ASKING; i++) {
        struct sigaction now;
        if (!(set >> i & 1) || --taken[i].users > 0)
            continue;
        sigaction(asking[i].number, NULL, &now);
        if (is_ours(&now))
            sigaction(asking[i].number, &taken[i].before, NULL);
        else
            taken[i].after = now;
    }
}

unsigned eki_signals_count(enum eki_request request)
{
    /* acquire: see count_request(). */
    return atomic_load_explicit(&counts[request], memory_order_acquire);
}

uint64_t eki_signals_last_ns(enum eki_request request)
{
    /* relaxed: see count_request(). */
    return atomic_load_explicit(&last_ns[request], memory_order_relaxed);
}
