/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Particles in a ring of boxes.  Each rank owns a part of the ring.
 *
 *     tools/mpirun -n 2 build/examples/migrate/owners_before [PARTICLES]
 *
 * Most particles are in a cloud that moves around.  In before.c each rank
 * computes its own boxes.  In after.c any rank may: the particles of a box
 * travel to it, and come back.  The owners move the particles in both, and both
 * print the same: docs/migrate/from-owned-data.md.
 */
#include <evenkeel_data.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    STEPS = 10,
    BOXES = 48
};

struct particle {
    int64_t id;
    double x, v, energy; /* x in boxes, 0 <= x < BOXES */
};

/* A rank has boxes first ... last - 1. */
struct ring {
    int rank, size, first, last, count;
    int start[BOXES + 1];     /* of a box in mine */
    struct particle *mine;    /* [all]; ordered by box, then by id */
    struct particle *leaving; /* [all]; to the next rank */
};

/* The work in a box, with the square of its particles. */
static void add_forces(ek_worker *worker, struct particle *particles, int count)
{
    for (int i = 0; i < count; i++) {
        double force = 0, energy = 0;
        for (int j = 0; j < count; j++) {
            double r = particles[i].x - particles[j].x;
            force += r * exp(-r * r);
            energy += exp(-r * r);
        }
        particles[i].v += 1e-5 * force;
        particles[i].energy = energy;
        ek_poll(worker); /* data of other boxes leaves, and comes */
    }
}

/* Here, or on another rank: the particles are where the library says. */
static int run_box(ek_worker *worker, const void *payload, size_t bytes,
                   void *context)
{
    size_t size = ek_task_data_bytes(worker) / sizeof(struct particle);
    (void)payload, (void)bytes, (void)context;
    add_forces(worker, ek_task_data(worker), (int)size);
    return 0;
}

/* The library has said why. */
static void check(ek_status status)
{
    if (status != EK_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A task for each box of this rank. */
static ek_function add_boxes(ek_collection *tasks, const struct ring *ring,
                             int all)
{
    ek_function function;
    check(ek_register(tasks, "box", run_box, NULL, &function));
    check(
        ek_set_data_blocks(tasks, function, (size_t)all * sizeof *ring->mine));
    check(ek_add_range(tasks, function, ring->first, ring->last));
    return function;
}

static void compute(ek_collection *tasks, ek_function function,
                    struct ring *ring)
{
    for (int box = ring->first; box < ring->last; box++) {
        int count = ring->start[box + 1] - ring->start[box];
        check(ek_set_block(tasks, function, box, ring->mine + ring->start[box],
                           (size_t)count * sizeof *ring->mine));
    }
    check(ek_process(tasks, NULL));
}

static int compare(const void *left, const void *right)
{
    const struct particle *a = left, *b = right;
    if ((int)a->x != (int)b->x)
        return (int)a->x - (int)b->x;
    return (a->id > b->id) - (a->id < b->id);
}

/* Find where each box starts. */
static void sort(struct ring *ring)
{
    int i = 0;
    qsort(ring->mine, (size_t)ring->count, sizeof *ring->mine, compare);
    for (int box = 0; box <= BOXES; box++) {
        while (i < ring->count && (int)ring->mine[i].x < box)
            i++;
        ring->start[box] = i;
    }
}

/* All move to the right, by less than a box: to this rank or the next. */
static void move(struct ring *ring, int all)
{
    int kept = 0, leaving = 0, arrived, size = sizeof *ring->mine;
    MPI_Status status;
    for (int i = 0; i < ring->count; i++) {
        struct particle particle = ring->mine[i];
        particle.x += particle.v;
        if (particle.x < ring->last)
            ring->mine[kept++] = particle;
        else
            ring->leaving[leaving++] = particle;
    }
    for (int i = 0; i < leaving; i++)
        ring->leaving[i].x = fmod(ring->leaving[i].x, BOXES);
    MPI_Sendrecv(
        ring->leaving, leaving * size, MPI_BYTE, (ring->rank + 1) % ring->size,
        0, ring->mine + kept, (all - kept) * size, MPI_BYTE,
        (ring->rank + ring->size - 1) % ring->size, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &arrived);
    ring->count = kept + arrived / size;
    sort(ring);
}

/* Summed by box: the same digits on any number of ranks. */
static double energy(const struct ring *ring)
{
    double boxes[BOXES] = {0}, sum = 0;
    for (int i = 0; i < ring->count; i++)
        boxes[(int)ring->mine[i].x] += ring->mine[i].energy;
    MPI_Allreduce(MPI_IN_PLACE, boxes, BOXES, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int box = 0; box < BOXES; box++)
        sum += boxes[box];
    return sum;
}

static void fill(struct ring *ring, int all)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &ring->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ring->size);
    ring->first = BOXES * ring->rank / ring->size;
    ring->last = BOXES * (ring->rank + 1) / ring->size;
    ring->mine = malloc((size_t)all * sizeof *ring->mine);
    ring->leaving = malloc((size_t)all * sizeof *ring->mine);
    for (int i = 0; i < all; i++) {
        double x = i % 4 > 0 ? 8 + 3 * sin(i) : BOXES * fabs(sin(i));
        if ((int)x >= ring->first && (int)x < ring->last)
            ring->mine[ring->count++] = (struct particle){i, x, 0.4, 0};
    }
    sort(ring);
}

int main(int argc, char **argv)
{
    double seconds = 0;
    int all = argc > 1 ? atoi(argv[1]) : 1500;
    struct ring ring = {.count = 0};
    MPI_Init(&argc, &argv);
    fill(&ring, all);
    ek_collection *tasks;
    ek_options options = EK_OPTIONS_INIT;
    options.workers = 1; /* one thread of each rank, as before */
    check(ek_create(MPI_COMM_WORLD, &options, &tasks));
    ek_function function = add_boxes(tasks, &ring, all);

    for (int step = 0; step < STEPS; step++) {
        MPI_Barrier(MPI_COMM_WORLD);
        seconds -= MPI_Wtime();
        compute(tasks, function, &ring);
        MPI_Barrier(MPI_COMM_WORLD);
        seconds += MPI_Wtime();
        double sum = energy(&ring);
        move(&ring, all);
        if (ring.rank == 0)
            printf("step %d: energy %.15g\n", step, sum);
    }
    if (ring.rank == 0)
        printf("seconds: %.4f\n", seconds);

    ek_destroy(&tasks);
    free(ring.mine);
    free(ring.leaving);
    MPI_Finalize();
    return 0;
}
