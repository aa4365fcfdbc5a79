/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++: lambdas as tasks, an object per worker, exceptions that all ranks hear.
 *
 *     tools/mpirun -n 2 build/examples/04_cpp
 *     tools/mpirun -n 2 build/examples/04_cpp 30
 *
 * counts the steps of Collatz sequences in tasks of 1,000 numbers each, in
 * three iterations.  You will see: the same longest sequence from any number of
 * ranks. The second command lets task 30 throw: Evenkeel says so once,
 * process() throws on all ranks, on the one where the task ran what it threw,
 * on the others an error, and every rank leaves main() as usual.
 */
#include <evenkeel.hpp>

#include <algorithm>
#include <cstdint>
#include <iostream>

struct longest {
    std::int64_t steps, number;

    bool operator<(const longest &other) const
    {
        return steps != other.steps ? steps < other.steps
                                    : number > other.number;
    }
};

static std::int64_t steps_of(std::int64_t number)
{
    std::int64_t steps = 0;
    for (; number != 1; steps++)
        number = number % 2 == 0 ? number / 2 : 3 * number + 1;
    return steps;
}

static void search(int rank, std::int64_t bad)
{
    evenkeel::collection tasks(MPI_COMM_WORLD);
    evenkeel::per_worker<longest> found(tasks, {0, 0});
    auto block = tasks.add_function<
        std::int64_t>("block", [&](evenkeel::worker worker,
                                   const std::int64_t &first) {
        if (first == 1000 * bad)
            throw std::domain_error("this block is bad");
        for (auto i = std::max<std::int64_t>(first, 1); i < first + 1000; i++)
            found[worker] = std::max(found[worker], longest{steps_of(i), i});
    });
    for (std::int64_t i = 0; i < 200 && rank == 0; i++)
        tasks.add(block, 1000 * i);

    for (int iteration = 0; iteration < 3; iteration++) {
        tasks.process(); /* the next one restores */
        longest best = tasks.reduce(
            found, [](longest a, longest b) { return std::max(a, b); });
        if (rank == 0)
            std::cout << "iteration " << iteration << ": " << best.number
                      << " takes " << best.steps << " steps" << std::endl;
    }
}

int main(int argc, char **argv)
{
    int provided, rank, status = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        search(rank, argc > 1 ? std::atoi(argv[1]) : -1);
    } catch (const std::domain_error &) {
        std::cout << "rank " << rank << " has what its task threw" << std::endl;
        status = 1;
    } catch (const evenkeel::error &) {
        status = 1; /* Evenkeel has said it. */
    }
    MPI_Finalize();
    return status;
}
