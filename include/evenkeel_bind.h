/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls for other languages, which have neither the macros of C nor its handles
 * of MPI.  Such a program sets all options by ek_options_set().
 *
 * Errors, threads.  As in evenkeel.h.
 */
#ifndef EVENKEEL_BIND_H
#define EVENKEEL_BIND_H

#include <evenkeel.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Set options to their defaults.
 *
 * A room of 1,024 bytes that is aligned as a pointer is large enough for the
 * options of this library.
 *
 * @param[out] options       The options, as far as they fit.
 * @param[in]  struct_bytes  Bytes of room there.
 *
 * @retval EK_ERR_ARG  @p options is NULL, or there is no room for a name.
 *
 * Call:    Local.
 * Threads: Any.
 */
EK_API ek_status ek_options_init(ek_options *options, size_t struct_bytes);

/** ek_create() from a communicator of Fortran, or of mpi4py's py2f(). */
EK_API ek_status ek_create_f(MPI_Fint comm, const ek_options *options,
                             ek_collection **tasks);

#ifdef __cplusplus
}
#endif
#endif
