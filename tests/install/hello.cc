// SPDX-License-Identifier: BSD-3-Clause
// Twelve tasks on two ranks, in C++.
#include <evenkeel_report.h>

#include <cstdio>

static int say_nothing(ek_worker *, const void *, size_t, void *)
{
    return 0;
}

int main(int argc, char **argv)
{
    int rank;
    ek_collection *tasks;
    ek_function function;
    ek_process_report report = EK_PROCESS_REPORT_INIT;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ek_status status = ek_create(MPI_COMM_WORLD, nullptr, &tasks);
    if (status == EK_OK)
        status = ek_register(tasks, "nothing", say_nothing, nullptr, &function);
    for (int i = 0; status == EK_OK && i < 6; i++)
        status = ek_add_task(tasks, function, nullptr, 0, nullptr);
    if (status == EK_OK)
        status = ek_process(tasks, &report);
    if (status == EK_OK && rank == 0)
        std::printf("%lld tasks ran\n", static_cast<long long>(report.tasks));
    ek_destroy(&tasks);
    MPI_Finalize();
    return status != EK_OK;
}
