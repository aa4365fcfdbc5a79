/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tensor contraction, the second benchmark of HPDC 2012, balanced by
 * Evenkeel.
 *
 *     mpirun -n 2 tensor_contraction --preset fifth
 *
 * prints a row per iteration and the norm of C.  Symmetry leaves few of the
 * tiles, and few of the products of tiles: tasks find out that they are null,
 * and are gone from the second iteration on.  The tensors lie in stores of
 * tiles, from which any task gets those that it multiplies.  --compare runs the
 * same with several ways to balance; --count runs all tasks without doing their
 * work, and --record writes how long they would take.  task.c is where tiles
 * are got, multiplied and accumulated.
 */
#include "arguments.h"
#include "memory.h"
#include "plain.h"
#include "run.h"

#include <math.h>
#include <stdio.h>

const char program_name[] = "tensor_contraction";

static void print_tensor(const char *name, const struct tensor *tensor)
{
    printf("%s: %lld tiles, %.3f GiB\n", name, (long long)tensor->tiles,
           tensor->entries * (double)sizeof(double) / 0x1p30);
}

static void print_head(const struct arguments *arguments,
                       const struct contraction *contraction)
{
    const struct expression *e = &contraction->expression;
    if (!is_first_rank())
        return;
    printf("%s, tiles of %lld\n", arguments->contraction.expression,
           (long long)arguments->contraction.tile);
    print_tensor(e->c.name, &contraction->c);
    print_tensor(e->a.name, &contraction->a);
    print_tensor(e->b.name, &contraction->b);
    printf("%lld products of %.0f, %.3g operations\n",
           (long long)contraction->total.products,
           (double)contraction->outputs * (double)contraction->terms,
           (double)contraction->total.flop);
    fflush(stdout);
}

/* What a worker's cache comes to, at most. */
static double cached_bytes(const struct arguments *arguments,
                           const struct tensor *tensor)
{
    return fmin(1e6 * (double)arguments->cache_mb,
                (double)sizeof(double) * tensor->entries);
}

/* With the workers of the rank known. */
static bool check_memory(const struct arguments *arguments,
                         const struct contraction *contraction,
                         const struct operands *operands,
                         struct message *message)
{
    double worker = (double)tensor_job_bytes(contraction, &arguments->options) +
                    cached_bytes(arguments, &contraction->a) +
                    cached_bytes(arguments, &contraction->b);
    double others = verify_bytes(contraction, arguments->verify) +
                    (arguments->has_peers ? plain_bytes(contraction) : 0);
    return memory_check(contraction,
                        worker * ek_rank_workers(operands->home) + others,
                        arguments->memory_bytes, message);
}

static int run_contraction(const struct arguments *arguments,
                           const struct contraction *contraction)
{
    struct message message;
    struct operands operands;
    const struct run run = {.contraction = contraction,
                            .operands = &operands,
                            .options = &arguments->options,
                            .verify = arguments->verify,
                            .has_peers = arguments->has_peers};
    ek_status status = operands_open(&operands);
    bool has_room = status == EK_OK &&
                    check_memory(arguments, contraction, &operands, &message);
    if (has_room)
        status = operands_make(contraction, arguments->cache_mb * 1000000,
                               &operands);
    int result;
    if (status != EK_OK)
        result = complain_status(status);
    else if (!has_room)
        result = complain(&message, EXIT_BAD_INPUT);
    else
        result = run_iterations(&run, &arguments->shared);
    operands_close(&operands);
    return result;
}

static int run_count(const struct arguments *arguments,
                     const struct contraction *contraction)
{
    const struct job_setup setup = {.comm = MPI_COMM_WORLD,
                                    .mode = arguments->shared.mode,
                                    .record = arguments->shared.record};
    return count_tasks(&setup, contraction, &arguments->cost);
}

static int run(void *context)
{
    struct arguments *arguments = context;
    struct contraction contraction;
    struct message message;
    int status;
    kernel_start();
    if (contraction_make(&arguments->contraction, &contraction, &message)) {
        print_head(arguments, &contraction);
        status = arguments->has_count
                     ? run_count(arguments, &contraction)
                     : run_contraction(arguments, &contraction);
    } else {
        status = complain(&message, EXIT_BAD_INPUT);
    }
    contraction_free(&contraction);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments arguments = arguments_default;
    return command_line_main(&arguments_line, argc, argv, &arguments, run);
}
