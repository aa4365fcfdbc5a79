/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls for other languages. */
#include "collection/collection.h"

#include <evenkeel_bind.h>

#include <string.h>

ek_status ek_create_f(MPI_Fint comm, const ek_options *options,
                      ek_collection **made)
{
    return ek_create(eki_mpi_comm_of_fortran(comm), options, made);
}

/* Where a VALUE ends: at the last comma before the next '='. */
static char *end_of(char *value)
{
    char *end = strchr(value, '=');
    while (end && end > value && *end != ',')
        end--;
    return end && *end == ',' ? end : value + strlen(value);
}

/* Set OPTIONS from TEXT, which is changed and borrowed. */
static ek_status read_options(ek_options *options, char *text)
{
    while (text[strspn(text, " ")]) {
        text += strspn(text, " ");
        char *value = strchr(text, '=');
        if (!value)
            return eki_error(EK_ERR_ARG,
                             "options: '%.200s' has no '='; allowed: "
                             "name=value,name=value,...",
                             text);
        *value++ = '\0';
        char *end = end_of(value);
        char *next = *end ? end + 1 : end;
        *end = '\0';
        EKI_TRY(ek_options_set(options, text, value));
        text = next;
    }
    return EK_OK;
}

ek_status ek_create_text(MPI_Fint comm, const char *text, ek_collection **made)
{
    ek_options options = EK_OPTIONS_INIT;
    size_t bytes = text ? strlen(text) + 1 : 0;
    char *copy = eki_alloc(bytes + 1, 1);
    ek_status read = EK_OK;
    if (!copy)
        read = eki_error(EK_ERR_NOMEM, "no memory for options");
    else if (text)
        read = read_options(&options, memcpy(copy, text, bytes));
    ek_status status = eki_collection_create(eki_mpi_comm_of_fortran(comm),
                                             &options, read, made);
    eki_free(copy);
    return eki_collection_outcome(NULL, status);
}

void ek_abort(void)
{
    /* Before the first collection base does not know MPI. */
    eki_abort_by(eki_mpi_abort, -1);
    eki_abort();
}
