/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The element types of tensors, one line each. A new type needs a constant in gr_dtype, and a line
 * here. Each common type has a kernel that converts from it.
 *
 * X(constant, kernel, size, name, typestr, code)
 *     GR_DTYPE_<constant>, the end of the kernel's name, the size of an element in bytes, the name,
 *     the name in array interfaces, the type code of DLPack
 */
#ifndef GR_LIB_TENSOR_ELEMENT_TYPES_H
#define GR_LIB_TENSOR_ELEMENT_TYPES_H

#define GR_COMMON_TYPES(X)                                                                         \
    X(U8, u8, 1, "uint8", "|u1", kDLUInt)                                                          \
    X(U16, u16, 2, "uint16", "<u2", kDLUInt)                                                       \
    X(F16, f16, 2, "float16", "<f2", kDLFloat)                                                     \
    X(BF16, bf16, 2, "bfloat16", "<V2", kDLBfloat)                                                 \
    X(F32, f32, 4, "float32", "<f4", kDLFloat)

/* The kernels of U8 and U16 convert these, too. */
#define GR_NARROW_TYPES(X)                                                                         \
    X(I8, i8, 1, "int8", "|i1", kDLInt)                                                            \
    X(I16, i16, 2, "int16", "<i2", kDLInt)                                                         \
    X(BOOL, bool, 1, "bool", "|b1", kDLBool)

/* One kernel converts from and to these. */
#define GR_WIDE_TYPES(X)                                                                           \
    X(U32, u32, 4, "uint32", "<u4", kDLUInt)                                                       \
    X(U64, u64, 8, "uint64", "<u8", kDLUInt)                                                       \
    X(I32, i32, 4, "int32", "<i4", kDLInt)                                                         \
    X(I64, i64, 8, "int64", "<i8", kDLInt)                                                         \
    X(F64, f64, 8, "float64", "<f8", kDLFloat)

#define GR_CONVERTED_TYPES(X) GR_COMMON_TYPES(X) GR_NARROW_TYPES(X) GR_WIDE_TYPES(X)

/* Types that are only copied. */
#define GR_OTHER_TYPES(X)                                                                          \
    X(C64, c64, 8, "complex64", "<c8", kDLComplex)                                                 \
    X(C128, c128, 16, "complex128", "<c16", kDLComplex)

#endif
