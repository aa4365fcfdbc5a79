/* SPDX-License-Identifier: BSD-3-Clause */
/* A collection of evenkeel.hpp, of which there is one at a time. */
#ifndef MIX_THROW_H
#define MIX_THROW_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

ek_collection *thrower_create(const ek_options *options);
void thrower_destroy(void);
/* A function that throws where its body, which gets a number, fails. */
ek_function thrower_register(const char *name, ek_task_fn *body, void *context);
/* ek_process(), whose report has the tasks. */
ek_status thrower_process(ek_process_report *report);
/* How many of this rank's tasks have thrown in it; 64 at most. */
int thrower_failures(void);

#ifdef __cplusplus
}
#endif
#endif
