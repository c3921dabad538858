/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A layer over Mesa that makes OpenGL behave as the NVIDIA driver does where the two differ
 * (docs/driver.md). run-test preloads it if GR_TEST_NVIDIA is set, and test_nvidia_rules asserts
 * the rules on a GPU, too. The layer replaces functions of libepoxy by its pointers, and calls that
 * register and map OpenGL objects by cuGetProcAddress().
 */
#ifndef GR_TESTS_NVIDIA_LAYER_H
#define GR_TESTS_NVIDIA_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <epoxy/gl.h>

/*
 * The words of GR_TEST_NVIDIA; "all" selects every rule. Mesa itself has an option for two further
 * rules, which run-test sets: names that are used again at once, and the name of the vendor.
 */
enum rule {
    RULE_REFUSE,   /* glTexParameter of the levels and glTexImage of a registered image fail */
    RULE_IMPORTED, /* glGetBufferSubData and some uploads take old bytes of memory of CUDA */
    RULE_DISCARD,  /* glBlitFramebuffer writes nothing while rasterizer discard is enabled */
    RULE_SNORM,    /* the component type of a signed normalized attachment is refused */
    RULES
};

/* Whether the rule is selected, and this thread is outside the layer and the software driver. */
bool layer_rule(enum rule rule);
/* Above 0, calls of this thread have no effect on the layer. */
extern _Thread_local int layer_inside;

/* With GR_TEST_NVIDIA_LOG=1, prints each difference from Mesa. */
#define layer_log(...) (layer_logs ? fprintf(stderr, "nvidia: " __VA_ARGS__) : 0)
extern bool layer_logs;

/* Sets the OpenGL error GL_INVALID_OPERATION. */
void layer_fail(void);

enum kind { KIND_BUFFER, KIND_IMAGE, KINDS };

/* What the layer knows about an object; all zero for a new one. */
struct object {
    unsigned life;       /* how often the name was deleted */
    unsigned registered; /* the number of registrations with CUDA */

    /* The following members are for buffers only. */
    bool imported; /* it is in memory of CUDA */
    char *kept;    /* the bytes of the buffer that the driver keeps in host memory, or NULL */
    GLsizeiptr kept_size;
    unsigned long kept_at; /* the number of draws before; later shaders may have written imported */
};

/* The object in the share group of the current context. Never NULL; unknown objects are empty. */
struct object *layer_object(enum kind kind, GLuint name);
void layer_delete(enum kind kind, GLsizei count, const GLuint *names);

/* The name that is bound to a target of a buffer or a texture. */
GLuint layer_bound(GLenum target);

/* Keeps the bytes of the buffer at this target, or gives them up. */
void layer_keep(struct object *object, GLenum target);
void layer_forget(struct object *object);
/* The bytes that the driver keeps, unless it reads the buffer again. */
const char *layer_kept(struct object *object);

/* The function of libEGL or Mesa, without libepoxy. */
void *layer_find(const char *name);

#define LIST(...) __VA_ARGS__
/* HOOK(type, name, parameters...) {...}: replaces a function, which is then next_ and its name. */
#define HOOK(type, name, ...)                                                                      \
    typedef type(EPOXY_CALLSPEC *pfn_##name)(__VA_ARGS__);                                         \
    static pfn_##name next_##name(void)                                                            \
    {                                                                                              \
        static pfn_##name next;                                                                    \
        if (!next)                                                                                 \
            *(void **)(void *)&next = layer_find(#name);                                           \
        return next;                                                                               \
    }                                                                                              \
    static type EPOXY_CALLSPEC hook_##name(__VA_ARGS__);                                           \
    __attribute__((constructor)) static void put_##name(void)                                      \
    {                                                                                              \
        epoxy_##name = hook_##name;                                                                \
    }                                                                                              \
    static type EPOXY_CALLSPEC hook_##name(__VA_ARGS__)
/* Replaces the function glNAME by itself between two effects. */
#define HOOK_AROUND(before, name, parameters, values, after)                                       \
    HOOK(void, gl##name, LIST parameters)                                                          \
    {                                                                                              \
        before;                                                                                    \
        next_gl##name() values;                                                                    \
        after;                                                                                     \
    }

#endif
