/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The program itself as a module: loaded from the start, in every context, and never unloaded. */
#include "softcuda/driver/kernel/program.h"

#include "softcuda/driver/memory/managed_memory.h"
#include "softcuda/driver/kernel/module.h"

static soft_module program = {.holds = 1, .lock = PTHREAD_MUTEX_INITIALIZER};

CUresult gr_softcuda_function(const gr_cuhost_kernel *kernel, CUfunction *function)
{
    SOFT_TRY(soft_check_init());
    SOFT_GET(soft_function *, found, soft_function_of(&program, kernel, &found));
    *function = found->function_handle;
    return CUDA_SUCCESS;
}

CUresult gr_softcuda_variable(void *address, size_t size, bool is_managed)
{
    const soft_range variable = {.base = address,
                                 .size = size,
                                 .kind = is_managed ? SOFT_MEMORY_MANAGED : SOFT_MEMORY_DEVICE,
                                 .what = is_managed ? "a managed variable of the program"
                                                    : "a variable of the program",
                                 .owner = &program};
    soft_range known;
    SOFT_LOCK(&program.lock);
    bool is_known = soft_range_find(address, &known) && known.owner == &program;
    return is_known ? CUDA_SUCCESS : soft_range_add(&variable);
}

void gr_softcuda_forget_variable(const void *address)
{
    soft_range known;
    SOFT_LOCK(&program.lock);
    if (soft_range_find(address, &known) && known.owner == &program && known.base == address) {
        soft_range_remove(known.base, known.kind, NULL);
        if (soft_is_managed(&known))
            soft_advice_drop(known.base, known.size);
    }
}
