/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of register, map, buffer, release and close, case by case: that of cuda.core's
 * GraphicsResource, and where grinterop promises more.
 */
#include "contract.h"

#include <string.h>

struct seen seen;

static void listen(void *user, gr_log_level level, const char *line)
{
    (void)user;
    if (level == GR_LOG_WARNING)
        seen.warnings++;
    if (level == GR_LOG_DEBUG && strstr(line, "closed"))
        seen.closed++;
}

void start_listening(void)
{
    seen.closed = seen.warnings = 0;
    gr_log_set(GR_LOG_DEBUG, listen, NULL);
}

void stop_listening(void)
{
    gr_log_set(GR_LOG_NONE, NULL, NULL);
}

int main(int argc, char **argv)
{
    resource_case_buffer(SIZE, 1);
    return run_tests(argc, argv, "contract", NULL);
}
