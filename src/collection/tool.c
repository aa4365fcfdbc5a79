/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool that hears of tasks: around bodies that are registered in their place,
 * and around what a pull loop fetches.
 *
 * Owns the tool of the process, which collections copy when they are made.
 */
#include "collection/collection.h"

static pthread_mutex_t tool_mutex = PTHREAD_MUTEX_INITIALIZER;
static ek_tool process_tool;

static ek_status set_tool(const ek_tool *tool)
{
    ek_tool taken = EK_TOOL_INIT;
    if (tool &&
        !eki_struct_copy(tool, tool->struct_bytes, offsetof(ek_tool, context),
                         &taken, sizeof taken))
        return eki_error(EK_ERR_ARG, "ek_set_tool: the tool was not set by "
                                     "EK_TOOL_INIT");
    pthread_mutex_lock(&tool_mutex);
    process_tool = taken;
    pthread_mutex_unlock(&tool_mutex);
    return EK_OK;
}

ek_status ek_set_tool(const ek_tool *tool)
{
    return eki_collection_outcome(NULL, set_tool(tool));
}

ek_status eki_tool_open(ek_collection *tasks)
{
    pthread_mutex_lock(&tool_mutex);
    ek_tool tool = process_tool;
    pthread_mutex_unlock(&tool_mutex);
    if (!tool.begin && !tool.end)
        return EK_OK;
    size_t workers = (size_t)tasks->topology->workers_here;
    struct eki_watch *watch =
        eki_alloc(1, sizeof *watch + workers * sizeof *watch->fetched);
    if (!watch)
        return eki_error(EK_ERR_NOMEM, "no memory for a tool");
    watch->tool = tool;
    tasks->parts.watch = watch;
    return EK_OK;
}

static void tell_begin(const ek_collection *tasks, int function, int worker,
                       uint64_t id)
{
    const ek_tool *tool = &tasks->parts.watch->tool;
    if (tool->begin)
        tool->begin(tasks->engine->functions[function].name, worker, id,
                    tool->context);
}

static void tell_end(const ek_collection *tasks, int function, int worker,
                     uint64_t id)
{
    const ek_tool *tool = &tasks->parts.watch->tool;
    if (tool->end)
        tool->end(tasks->engine->functions[function].name, worker, id,
                  tool->context);
}

/* In place of the body of a function. */
static int run_watched(ek_worker *worker, const void *payload, size_t bytes,
                       void *context)
{
    const ek_collection *tasks = worker->engine->owner;
    int function = eki_worker_function(worker);
    uint64_t id = eki_task_key(worker);
    tell_begin(tasks, function, worker->id, id);
    int code =
        tasks->parts.watch->bodies[function](worker, payload, bytes, context);
    tell_end(tasks, function, worker->id, id);
    return code;
}

ek_status eki_tool_wrap(ek_collection *tasks, ek_task_fn **fn)
{
    struct eki_watch *watch = tasks->parts.watch;
    if (!watch || !*fn)
        return EK_OK;
    size_t function = (size_t)tasks->engine->function_count;
    ek_task_fn **bodies =
        eki_realloc(watch->bodies, function + 1, sizeof *bodies);
    if (!bodies)
        return eki_error(EK_ERR_NOMEM, "ek_register: no memory for a function");
    watch->bodies = bodies;
    bodies[function] = *fn;
    *fn = run_watched;
    return EK_OK;
}

void eki_tool_begin_fetched(ek_collection *tasks, int here, const ek_task *task)
{
    if (!tasks->parts.watch || !task->worker)
        return;
    tasks->parts.watch->fetched[here] =
        (struct eki_fetched){true, task->function, task->id};
    tell_begin(tasks, task->function, task->worker_id, task->id);
}

void eki_tool_end_fetched(ek_collection *tasks, int here)
{
    if (!tasks->parts.watch || !tasks->parts.watch->fetched[here].is_open)
        return;
    struct eki_fetched *fetched = &tasks->parts.watch->fetched[here];
    fetched->is_open = false;
    tell_end(tasks, fetched->function, tasks->engine->workers[here]->id,
             fetched->id);
}

void eki_tool_end_all(ek_collection *tasks)
{
    for (int here = 0;
         tasks->parts.watch && here < tasks->topology->workers_here; here++)
        eki_tool_end_fetched(tasks, here);
}

void eki_tool_close(ek_collection *tasks)
{
    if (tasks->parts.watch)
        eki_free(tasks->parts.watch->bodies);
    eki_free(tasks->parts.watch);
    tasks->parts.watch = NULL;
}
