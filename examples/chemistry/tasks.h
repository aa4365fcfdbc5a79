/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task is a column; its data is the state of the column, which its owner has.
 *
 * This is where Evenkeel is used.
 */
#ifndef CHEMISTRY_TASKS_H
#define CHEMISTRY_TASKS_H

#include "common/job.h"
#include "hour.h"

/**
 * Make the job of a field.
 *
 * @param[in]  hour  Borrowed; whoever runs an iteration sets it before.
 * @param[out] job   To be closed, also on failure.
 */
ek_status tasks_open(const struct job_setup *setup, struct hour *hour,
                     struct job *job);

/**
 * Let saves have the field, and go on from one if the setup says so.
 *
 * @param[out] first  The hour that comes next.
 *
 * Call: Collective, before the first hour.
 */
bool tasks_resume(struct hour *hour, struct job *job, int *first,
                  struct message *message);

#endif
