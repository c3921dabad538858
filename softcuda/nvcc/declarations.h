/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The declarations of a program in namespaces and classes. They are found by the shape of the
 * tokens, not by a C++ grammar: a body belongs to a class, a function or an initialiser.
 */
#ifndef GR_SOFTCUDA_NVCC_DECLARATIONS_H
#define GR_SOFTCUDA_NVCC_DECLARATIONS_H

#include "softcuda/nvcc/source.h"

enum declared {
    DECLARED_OTHER, /* variables, types, using declarations and others */
    DECLARED_FUNCTION,
    DECLARED_CLASS,
};

typedef struct declaration {
    enum declared what;
    size_t first, last; /* the tokens of the declaration, including the ; or the } of a function */
    size_t name;        /* the token of its name; NO_TOKEN if none was found */
    size_t params;      /* the ( of a function's parameters */
    size_t body;        /* the { of its body, or NO_TOKEN */
    size_t header;      /* the < after the last `template`, or NO_TOKEN */
    bool in_class;
    bool is_global, is_device, is_host, is_constant, is_managed, is_shared;
    bool is_extern, is_extern_c, is_static, is_inline, is_friend, is_qualified, is_type;
} declaration;

typedef struct declarations {
    declaration *items;
    size_t count;
    size_t room;
} declarations;

void declarations_find(const source *s, declarations *found);

#endif
