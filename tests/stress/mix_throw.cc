// SPDX-License-Identifier: BSD-3-Clause
// What mix.c has of evenkeel.hpp: a collection, one at a time, of which one
// function is a lambda that throws where the body fails.
#include "mix_throw.h"

#include <evenkeel.hpp>

static std::unique_ptr<evenkeel::collection> tasks;

ek_collection *thrower_create(const ek_options *options)
{
    tasks = std::make_unique<evenkeel::collection>(MPI_COMM_WORLD, *options);
    return tasks->handle();
}

ek_function thrower_register(const char *name, ek_task_fn *body, void *context)
{
    auto run = [=](evenkeel::worker worker, const std::int64_t &number) {
        int code = body(worker.handle(), &number, sizeof number, context);
        if (code != 0 && number % 2 == 0)
            throw code;
        if (code != 0)
            throw std::runtime_error("as it should");
    };
    return tasks->add_function<std::int64_t>(name, run).number();
}

ek_status thrower_process(ek_process_report *report)
{
    ek_status status = EK_OK;
    bool has_thrown = false;
    try {
        *report = tasks->process_with_report();
        return EK_OK;
    } catch (const evenkeel::error &error) {
        status = error.status();
    } catch (...) {
        status = EK_ERR_TASK;
        has_thrown = true;
    }
    report->tasks = static_cast<std::int64_t>(tasks->figure("tasks"));
    /* Where a task of this rank has thrown, that is thrown, else the status. */
    return has_thrown == !tasks->failures().empty() ? status : EK_ERR_STATE;
}

int thrower_failures(void)
{
    return static_cast<int>(tasks->failures().size());
}

void thrower_destroy(void)
{
    tasks.reset();
}
