/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/base/struct_size.h"

#include <string.h>

#include "lib/base/error.h"

/* The largest valid size of a struct: a larger size means that the pointer is wrong. */
#define LARGEST 4096

gr_status gr_take_struct(void *own, size_t size, const void *given, const char *type)
{
    memset(own, 0, size);
    memcpy(own, &size, sizeof(size));
    if (!given)
        return GR_OK;
    size_t theirs;
    memcpy(&theirs, given, sizeof(theirs));
    GR_REFUSE_IF(theirs < sizeof(size_t) || theirs > LARGEST,
                 "A %s has the struct_size %zu: initialize the struct by GR_INIT(%s, ...), which "
                 "sets that field.",
                 type, theirs, type);
    for (size_t i = size; i < theirs; i++)
        if (((const char *)given)[i])
            return gr_fail(GR_ERR_UNSUPPORTED,
                           "A %s has a nonzero field that is unknown to this grinterop (version "
                           "%s): the program was compiled for a newer version. Install that "
                           "version, or leave the field 0.",
                           type, gr_library_version());
    size_t known = theirs < size ? theirs : size;
    memcpy((char *)own + sizeof(size), (const char *)given + sizeof(size), known - sizeof(size));
    return GR_OK;
}

gr_status gr_take_element(void *own, size_t size, const void *array, size_t i, const char *type)
{
    size_t stride, theirs;
    memcpy(&stride, array, sizeof(stride));
    if (i == 0)
        return gr_take_struct(own, size, array, type);
    const char *element = (const char *)array + i * stride;
    memcpy(&theirs, element, sizeof(theirs));
    GR_REFUSE_IF(theirs != stride,
                 "Element %zu of an array of %s has the struct_size %zu, but the first has %zu: "
                 "initialize each by GR_INIT(%s, ...), which sets that field.",
                 i, type, theirs, stride, type);
    return gr_take_struct(own, size, element, type);
}
