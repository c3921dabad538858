/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The results that a test driver returns, per function: success, unless a test sets another result.
 */
#ifndef GR_TESTS_DRIVER_ANSWERS_H
#define GR_TESTS_DRIVER_ANSWERS_H

#include <cuda.h>
#include <stddef.h>
#include <string.h>

#define MOST_ANSWERS 8

static struct {
    const char *call;
    CUresult code;
} answers[MOST_ANSWERS];
static size_t answer_count;

static void forget_answers(void)
{
    answer_count = 0;
}

static void answer(const char *call, CUresult code)
{
    if (answer_count < MOST_ANSWERS) {
        answers[answer_count].call = call;
        answers[answer_count++].code = code;
    }
}

/* The result that was last set for the function. */
static CUresult answer_of(const char *call)
{
    for (size_t i = answer_count; i > 0; i--)
        if (strcmp(answers[i - 1].call, call) == 0)
            return answers[i - 1].code;
    return CUDA_SUCCESS;
}

#endif
