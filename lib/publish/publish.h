/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Fetches the data that a graphics API has put into a staging buffer. */
#ifndef GR_LIB_PUBLISH_PUBLISH_H
#define GR_LIB_PUBLISH_PUBLISH_H

#include "lib/publish/choose_kernel.h"

/* The data in the staging buffer, as far as gr_publish_options.target does not describe it. */
struct gr_staged {
    bool numbers;                     /* integers are numbers, not fractions */
    const struct gr_inverse *inverse; /* NULL: the values are used as they are */
    gr_status (*fill)(void *of);      /* writes the data; called after the checks */
    void *of;
};

/* Like gr_fetch() of the data that staged->fill() writes, with `call` in errors. */
gr_status gr_fetch_staged(gr_resource *staging, gr_tensor *tensor,
                          const gr_publish_options *options, const struct gr_staged *staged,
                          CUstream stream, const char *call);

#endif
