/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/event.h"

#include "lib/driver.h"

bool gr_event_has_passed(CUevent event)
{
    CUresult result = gr_driver()->EventQuery(event);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        gr_driver()->EventSynchronize(event);
    return result != CUDA_ERROR_NOT_READY;
}
