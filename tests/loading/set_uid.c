/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints whether the program has more privileges than its caller, and which CUDA driver grinterop
 * then uses, or that it finds none. test_loading.sh runs the program.
 */
#include <stdio.h>
#include <sys/auxv.h>

#include <grinterop/cuda.h>

int main(void)
{
    puts(getauxval(AT_SECURE) ? "set-uid" : "ordinary");
    if (gr_cuda_load(false) == GR_OK)
        printf("driver %s\n", gr_cuda_driver_path());
    else
        printf("no driver: %s\n", gr_last_error()->message);
    return 0;
}
