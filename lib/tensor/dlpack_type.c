/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/tensor/dlpack_type.h"

static const struct {
    uint8_t code, bits;
} types[] = {
    [GR_DTYPE_U8] = {kDLUInt, 8},        [GR_DTYPE_U16] = {kDLUInt, 16},
    [GR_DTYPE_U32] = {kDLUInt, 32},      [GR_DTYPE_U64] = {kDLUInt, 64},
    [GR_DTYPE_I8] = {kDLInt, 8},         [GR_DTYPE_I16] = {kDLInt, 16},
    [GR_DTYPE_I32] = {kDLInt, 32},       [GR_DTYPE_I64] = {kDLInt, 64},
    [GR_DTYPE_F16] = {kDLFloat, 16},     [GR_DTYPE_BF16] = {kDLBfloat, 16},
    [GR_DTYPE_F32] = {kDLFloat, 32},     [GR_DTYPE_F64] = {kDLFloat, 64},
    [GR_DTYPE_BOOL] = {kDLBool, 8},      [GR_DTYPE_C64] = {kDLComplex, 64},
    [GR_DTYPE_C128] = {kDLComplex, 128},
};

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
