/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/dlpack/dlpack_type.h"

#include "lib/tensor/element_types.h"

static const struct {
    uint8_t code, bits;
} types[] = {
#define ROW(constant, kernel, size, name, typestr, code) [GR_DTYPE_##constant] = {code, 8 * (size)},
    GR_CONVERTED_TYPES(ROW) GR_OTHER_TYPES(ROW)};
#undef ROW

DLDataType gr_dlpack_type(gr_dtype dtype)
{
    return (DLDataType){.code = types[dtype].code, .bits = types[dtype].bits, .lanes = 1};
}

gr_dtype gr_dlpack_dtype(DLDataType type)
{
    for (size_t i = 1; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].code == type.code && types[i].bits == type.bits)
            return (gr_dtype)i;
    return (gr_dtype)0;
}
