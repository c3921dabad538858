/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The element types: sizes and names. */
#include <string.h>

#include "lib/base/error.h"
#include "lib/tensor/element_types.h"
#include "lib/tensor/tensor.h"

const gr_dtype_info gr_dtypes[] = {
#define ROW(constant, kernel, size, name, typestr, code)                                           \
    [GR_DTYPE_##constant] = {size, name, typestr},
    GR_CONVERTED_TYPES(ROW) GR_OTHER_TYPES(ROW)};
#undef ROW
enum { DTYPES = sizeof(gr_dtypes) / sizeof(gr_dtypes[0]) };

const gr_dtype_info *gr_dtype_get_info(gr_dtype dtype)
{
    GR_CALL();
    if ((unsigned)dtype >= 1 && (unsigned)dtype < DTYPES)
        return &gr_dtypes[dtype];
    gr_fail(GR_ERR_INVALID_VALUE, "%d is not a dtype: use GR_DTYPE_U8 to GR_DTYPE_C128.",
            (int)dtype);
    return NULL;
}

gr_dtype gr_dtype_parse(const char *name)
{
    GR_CALL();
    if (!name) {
        gr_fail(GR_ERR_INVALID_VALUE, "The dtype's name is NULL.");
        return (gr_dtype)0;
    }
    /* a typestr is found without its byte order */
    const char *code = *name && strchr("<>=|", *name) ? name + 1 : name;
    gr_dtype found = (gr_dtype)0;
    for (int i = 1; i < DTYPES && !found; i++)
        if (!strcmp(gr_dtypes[i].name, name) || !strcmp(gr_dtypes[i].typestr + 1, code))
            found = (gr_dtype)i;
    if (!found)
        gr_fail(GR_ERR_INVALID_VALUE,
                "\"%.32s\" is not a dtype: write \"float32\" or \"<f4\". Supported are 8 to 64 bit "
                "integers, signed or not, float16, bfloat16, float32, float64, bool, complex64 and "
                "complex128.",
                name);
    if (!found || *name != '>' || gr_dtypes[found].size == 1)
        return found;
    gr_fail(GR_ERR_UNSUPPORTED,
            "\"%.32s\" is big-endian, which CUDA does not support: convert it to \"%s\" first.",
            name, gr_dtypes[found].typestr);
    return (gr_dtype)0;
}
