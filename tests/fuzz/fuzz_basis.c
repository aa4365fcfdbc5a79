/* SPDX-License-Identifier: BSD-3-Clause */
/* Basis sets in Gaussian94 format, for an atom each of four elements. */
#include "fuzz.h"
#include "hartree_fock/basis.h"

#include <math.h>

const char program_name[] = "fuzz_basis";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct atom atoms[4] = {{.element = 1},
                            {.element = 8, .position = {1, 0, 0}},
                            {.element = 1, .position = {2, 0, 0}},
                            {.element = 26, .position = {3, 0, 0}}};
    /* Only some of them in most inputs: a file need not know all. */
    const struct molecule molecule = {size > 0 ? 1 + data[0] % 4 : 1, atoms};
    struct basis basis;
    struct message message;
    char *text = fuzz_text(data + (size > 0), size - (size > 0));
    if (basis_parse(text, "text", &molecule, &basis, &message)) {
        FUZZ_CHECK(basis.first_of_atom[molecule.atoms] == basis.shells);
        for (int i = 0; i < basis.shells; i++) {
            const struct shell *shell = &basis.shell[i];
            for (int p = 0; p < shell->primitives; p++)
                FUZZ_CHECK(shell->exponent[p] >= 0 &&
                           isfinite(shell->coefficient[p]));
        }
        basis_free(&basis);
    }
    free(text);
    return 0;
}
