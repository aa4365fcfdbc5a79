/* SPDX-License-Identifier: BSD-3-Clause */
#include "solver.h"

#include <math.h>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#define DAY_MINUTES 1440
#define PI 3.14159265358979323846
/* Of a box, at most. */
#define STEPS_MAX 100000
/* Slopes of POLLU between two polls: about 0.1 ms. */
#define SLOPES_PER_POLL 16

/* What the equations need. */
struct box {
    const struct mechanism *mechanism;
    const struct column_time *time;
    ek_worker *worker;
    int slopes;
};

struct solver {
    SUNContext context;
    N_Vector y;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    void *cvode;
};

static double light_at(const struct column_time *time, double minutes)
{
    if (time->longitude < 0)
        return 1;
    double turns = minutes / DAY_MINUTES + time->longitude;
    return fmax(0, -cos(2 * PI * turns));
}

static int slope_of(sunrealtype minutes, N_Vector y, N_Vector slope, void *data)
{
    struct box *box = data;
    mechanism_slope(box->mechanism, light_at(box->time, minutes),
                    N_VGetArrayPointer(y), N_VGetArrayPointer(slope));
    if (++box->slopes % SLOPES_PER_POLL == 0 && box->worker)
        ek_poll(box->worker);
    return 0;
}

static int jacobian_of(sunrealtype minutes, N_Vector y, N_Vector slope,
                       SUNMatrix jacobian, void *data, N_Vector a, N_Vector b,
                       N_Vector c)
{
    const struct box *box = data;
    (void)slope, (void)a, (void)b, (void)c;
    mechanism_jacobian(box->mechanism, light_at(box->time, minutes),
                       N_VGetArrayPointer(y), SUNDenseMatrix_Data(jacobian));
    return 0;
}

static void solver_free(struct solver *solver)
{
    CVodeFree(&solver->cvode);
    SUNLinSolFree(solver->linear);
    SUNMatDestroy(solver->matrix);
    N_VDestroy(solver->y);
    SUNContext_Free(&solver->context);
}

/* A solver for boxes like BOX, whose first level is STATE. */
static int solver_make(struct box *box, double relative, double *state,
                       struct solver *solver)
{
    const struct mechanism *mechanism = box->mechanism;
    *solver = (struct solver){0};
    int code = SUNContext_Create(NULL, &solver->context);
    if (code != 0)
        return code;
    solver->y = N_VMake_Serial(mechanism->species, state, solver->context);
    solver->matrix =
        SUNDenseMatrix(mechanism->species, mechanism->species, solver->context);
    solver->linear =
        SUNLinSol_Dense(solver->y, solver->matrix, solver->context);
    solver->cvode = CVodeCreate(CV_BDF, solver->context);
    code = CVodeInit(solver->cvode, slope_of, box->time->from, solver->y);
    if (code == CV_SUCCESS)
        code = CVodeSStolerances(solver->cvode, relative,
                                 mechanism->absolute_error);
    if (code == CV_SUCCESS)
        code = CVodeSetUserData(solver->cvode, box);
    if (code == CV_SUCCESS)
        code =
            CVodeSetLinearSolver(solver->cvode, solver->linear, solver->matrix);
    if (code == CV_SUCCESS)
        code = CVodeSetJacFn(solver->cvode, jacobian_of);
    if (code == CV_SUCCESS)
        code = CVodeSetMaxNumSteps(solver->cvode, STEPS_MAX);
    return code;
}

/* One box, from the beginning. */
static int solver_run(const struct solver *solver,
                      const struct column_time *time, double *state)
{
    double until = time->from + time->minutes, reached;
    N_VSetArrayPointer(state, solver->y);
    int code = CVodeReInit(solver->cvode, time->from, solver->y);
    if (code == CV_SUCCESS)
        code = CVodeSetStopTime(solver->cvode, until);
    if (code == CV_SUCCESS)
        code = CVode(solver->cvode, until, solver->y, &reached, CV_NORMAL);
    return code < 0 ? code : 0;
}

int column_integrate(const struct mechanism *mechanism,
                     const struct column_time *time, int levels,
                     double relative, double *state, ek_worker *worker)
{
    struct box box = {mechanism, time, worker, 0};
    struct solver solver;
    int code = solver_make(&box, relative, state, &solver);
    for (int level = 0; code == 0 && level < levels; level++)
        code = solver_run(&solver, time, &state[level * mechanism->species]);
    solver_free(&solver);
    return code;
}
