/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions that libFuzzer calls. Makefile.inc defines FUZZ_TARGET, the name of the target. */
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (FUZZ_TARGET.set_up)
        FUZZ_TARGET.set_up();
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    fuzz_run(&FUZZ_TARGET, bytes, size);
    return 0;
}
