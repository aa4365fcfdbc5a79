/* SPDX-License-Identifier: BSD-3-Clause */
/* Molecules in XYZ format. */
#include "fuzz.h"
#include "hartree_fock/molecule.h"

#include <math.h>

const char program_name[] = "fuzz_molecule";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct molecule molecule;
    struct message message;
    char *text = fuzz_text(data, size);
    if (molecule_parse(text, "text", &molecule, &message)) {
        FUZZ_CHECK(molecule_protons(&molecule) >= molecule.atoms);
        FUZZ_CHECK(isfinite(molecule_repulsion(&molecule)));
        molecule_free(&molecule);
    }
    free(text);
    return 0;
}
