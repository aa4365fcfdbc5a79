/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What compilers need, for the other headers: mpi.h without its C++ bindings,
 * EK_API, EK_NODISCARD, EK_INIT.
 */
#ifndef EVENKEEL_COMPILER_H
#define EVENKEEL_COMPILER_H

/* MPI's C++ bindings would want a library of theirs; MPI 3 has dropped them. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define EK_API __attribute__((visibility("default")))
#else
#define EK_API
#endif

/* A status that nobody looks at is warned of where the language knows how:
 * (void) says that it is meant. */
#if (defined(__cplusplus) && __cplusplus >= 201703L) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define EK_NODISCARD [[nodiscard]]
#else
#define EK_NODISCARD
#endif

/** What an EK_..._INIT is: a struct that knows its size; all else is 0. */
#ifdef __cplusplus
#define EK_INIT(type) eki_init<type>()
extern "C++" {
template <typename Type> constexpr Type eki_init()
{
    Type value{};
    value.struct_bytes = sizeof(Type);
    return value;
}
}
#else
#define EK_INIT(type)                \
    {                                \
        .struct_bytes = sizeof(type) \
    }
#endif

#endif
