/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Implements peer_wait.h. */
#include "softcuda/driver/stream/peer_wait.h"

/* The maximum time that the destruction of a context waits for another process. */
#define MOST_SECONDS_AT_END 2

static time_t seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

bool soft_peer_wait_gives_up(soft_context *context, time_t *since, const char *what)
{
    time_t now = seconds_now();
    bool is_first = false;
    pthread_mutex_lock(&soft_lock);
    bool is_ending = !context->alive;
    if (is_ending && *since == 0)
        *since = now;
    if (is_ending && context->sticky == CUDA_SUCCESS && now - *since > MOST_SECONDS_AT_END) {
        context->sticky = CUDA_ERROR_TIMEOUT;
        is_first = true;
    }
    bool is_over = context->sticky != CUDA_SUCCESS;
    pthread_mutex_unlock(&soft_lock);
    if (is_first)
        soft_log(SOFT_WARN,
                 "a context ends while a stream waits for %s; the wait is cancelled, and no later "
                 "signal is executed",
                 what);
    return is_over;
}
