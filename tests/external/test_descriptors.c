/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Compares what reaches the driver: the descriptions of external memory and semaphores, byte by
 * byte, for every handle type. Also tests what is refused before the driver is called, and how
 * refusals by the driver are reported. The driver only records calls, so the program runs anywhere,
 * including Windows (and Wine).
 */
#include "tests/support/cuda_symbol.h"
#include "descriptors.h"

#include <stdio.h>

const struct recorder_api *recorder;

void run_case(const char *group, const char *name, const char *(*run)(const void *row),
              const void *row)
{
    recorder->reset();
    gr_clear_error();
    int open_before = fd_count();
    const char *wrong = run(row);
    if (!wrong && fd_count() != open_before)
        wrong = fail_at(__FILE__, __LINE__, "%d descriptors were open before, %d after",
                        open_before, fd_count());
    plain_case(group, name, wrong);
}

static bool load_recorder(const char *program)
{
    if (!plain_driver(program, "recorder_driver"))
        return false;
    recorder = cuda_symbol("recorder_api", 2000);
    if (!recorder)
        printf("%s\n", gr_last_error()->message);
    return recorder;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!load_recorder(argv[0]))
        return 1;
    memory_cases();
    image_cases();
    semaphore_cases();
    point_cases();
    size_cases();
    return plain_verdict();
}
