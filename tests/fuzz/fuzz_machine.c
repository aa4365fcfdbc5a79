/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine files; what is read is written, and read again as the same. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"
#include "sim/machine.h"

#include <string.h>

/* Write MACHINE as a file, and read that. */
static void read_again(const struct eki_machine *machine)
{
    static struct fuzz_file file;
    char text[4096] = "";
    struct eki_machine again = {0};
    FILE *stream = fmemopen(text, sizeof text, "w");
    FUZZ_CHECK(stream != NULL);
    eki_machine_write(machine, stream);
    FUZZ_CHECK(fclose(stream) == 0);
    fuzz_file_fill(&file, text, strlen(text));
    FUZZ_CHECK(eki_machine_read(file.path, &again) == EK_OK);
    FUZZ_CHECK(again.node_cores == machine->node_cores);
    FUZZ_CHECK(strcmp(again.name, machine->name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_file file;
    struct eki_machine machine;
    FUZZ_CHECK(eki_machine_preset("hopper", &machine));
    fuzz_file_fill(&file, data, size);
    if (eki_machine_read(file.path, &machine) == EK_OK)
        read_again(&machine);
    return 0;
}
