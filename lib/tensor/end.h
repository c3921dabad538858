/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a tensor: at once, or when the streams have passed. */
#ifndef GR_LIB_TENSOR_END_H
#define GR_LIB_TENSOR_END_H

#include "lib/tensor/tensor_types.h"

/* From now on the end of the process is noticed, after which no driver is asked. */
void gr_tensor_watch_exit(void);

/* Enters the context if the driver may be asked: the process is not ending, the context lives. */
bool gr_tensor_enter(const struct gr_context *context, bool *pushed);

/* Nobody holds it any more. */
void gr_tensor_end(gr_tensor *tensor);

/* Ends what was put aside and is done. */
void gr_tensor_end_done(void);

#endif
