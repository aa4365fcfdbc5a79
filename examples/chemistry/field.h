/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state: columns of air around a circle of latitude, each with an owner
 * rank, and the wind that carries air from one to the next.
 *
 * Columns start in slabs, an equal share of consecutive ones on each rank.
 */
#ifndef CHEMISTRY_FIELD_H
#define CHEMISTRY_FIELD_H

#include "cli/message.h"
#include "mechanism.h"

#include <stdint.h>

#include <mpi.h>

/** What is computed. */
struct field_size {
    const struct mechanism *mechanism;
    int columns, levels;
    int64_t seed; /* of where cities are, and of first concentrations */
};

/** A column that is here. */
struct column {
    double *state; /* [levels][species]; NULL: it is on another rank */
    double *west;  /* that of its western neighbor, before the wind */
};

struct field {
    struct field_size size;
    MPI_Comm comm;
    int rank;
    struct column *columns; /* [columns] */
    int *owners;            /* [columns] ranks */
};

/** The columns of this rank's slab, as they are at midnight.
 *
 * @param[out] field  To be freed. */
void field_make(const struct field_size *size, MPI_Comm comm,
                struct field *field);
void field_free(struct field *field);

/** Of the state of a column. */
size_t field_column_bytes(const struct field_size *size);

/** Where a column is, in turns. */
double field_longitude(const struct field_size *size, int column);

/** Take a column from its owner: @p state is copied. */
void field_take(struct field *field, int column, const void *state);

/** Give a column away. */
void field_give(struct field *field, int column);

/**
 * Find out where columns are, after some were given away.
 *
 * Call: Collective.
 */
void field_find_owners(struct field *field);

/**
 * An hour of wind and of cities: owners exchange columns with those of their
 * neighbors, and compute the rest alone.
 *
 * Call: Collective, but for ranks without columns.
 */
void field_transport(struct field *field);

/**
 * Write the states of all columns to a file.
 *
 * Call: Collective; all ranks return the same.
 */
bool field_write(const struct field *field, const char *path);

/**
 * Read what field_write() has written.  Each rank gets the columns that
 * field.owners says, which another number of ranks may have written.
 *
 * Call: Collective; all ranks return the same.
 */
bool field_read(struct field *field, const char *path);

/** What a field comes to. */
struct field_sum {
    double mean;    /* of the species that is shown */
    uint64_t check; /* equal for equal fields: a sum over hashes of columns */
};

/**
 * Sum a field up, with the same bits on any number of ranks.
 *
 * Call: Collective.
 */
struct field_sum field_sum(const struct field *field);

#endif
