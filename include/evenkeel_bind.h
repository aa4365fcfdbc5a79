/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls for other languages: defaults without a macro, communicators of
 * Fortran, and an end.  docs/how-to/call-from-other-languages.md has programs.
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
 * Set options to their defaults, as EK_OPTIONS_INIT does.
 * @param[out] options       Room aligned as a pointer; 1,024 bytes suffice.
 * @param[in]  struct_bytes  Bytes of this room; options beyond are default.
 * @retval EK_ERR_ARG  @p options is NULL, or there is no room for a name.
 * Call:    Local.
 * Threads: Any.
 */
EK_API ek_status ek_options_init(ek_options *options, size_t struct_bytes);

/** ek_create() from a communicator of Fortran, or of mpi4py's py2f(). */
EK_API ek_status ek_create_f(MPI_Fint comm, const ek_options *options,
                             ek_collection **tasks);

/**
 * ek_create_f() with options as one text, such as "name=fock,workers=1".
 * @param[in] options  Pairs as of ek_options_set().  A part without '=' belongs
 *                     to the value before it: "report=1,run.tsv".  NULL: none.
 * @retval As ek_create(), on all ranks; so are Call, Threads and Cost.
 */
EK_API ek_status ek_create_text(MPI_Fint comm, const char *options,
                                ek_collection **tasks);

/**
 * End all ranks, as a failing call with on_error=abort does; never returns.
 * Call:    Local.
 * Threads: Any.
 */
EK_API void ek_abort(void);

#ifdef __cplusplus
}
#endif
#endif
