/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/base/thread.h"

#include <math.h>

bool gr_condition_init(struct gr_condition *condition)
{
    InitializeConditionVariable(&condition->variable);
    return true;
}

void gr_condition_end(struct gr_condition *condition)
{
    (void)condition;
}

void gr_condition_wait(struct gr_condition *condition, gr_mutex *mutex)
{
    SleepConditionVariableSRW(&condition->variable, mutex, INFINITE, 0);
}

bool gr_condition_wait_ms(struct gr_condition *condition, gr_mutex *mutex, double ms)
{
    const DWORD whole = ms > 0 ? (DWORD)ceil(ms) : 0;
    return !SleepConditionVariableSRW(&condition->variable, mutex, whole, 0);
}

void gr_condition_wake(struct gr_condition *condition)
{
    WakeAllConditionVariable(&condition->variable);
}

static BOOL CALLBACK call(PINIT_ONCE once, PVOID function, PVOID *context)
{
    (void)once;
    (void)context;
    (*(void (**)(void))function)();
    return TRUE;
}

void gr_call_once(gr_once *once, void (*function)(void))
{
    InitOnceExecuteOnce(once, call, &function, NULL);
}
