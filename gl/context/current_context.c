/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Identifies the current OpenGL context by a mark. */
#include "lib/base/compiler.h"
#include "gl/context/context.h"
#include "gl/context/saved_state.h"
#include "lib/base/exit.h"
#include "lib/base/lock.h"
#include "lib/cuda/driver.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

/* The marked contexts. The handle of a destroyed context may be reused, but its mark is not. */
static struct gr_lock marks_lock = GR_LOCK(CONTEXT_MARKS);
static struct gl_context *marks;
static size_t mark_count;

/*
 * Whether the context can have a mark. The NVIDIA driver also offers the functions in older
 * contexts, as extensions.
 */
static bool can_be_marked(const struct gl_context *context)
{
    if (context->es || !context->labels)
        return context->labels && context->version >= 31;
    return context->direct &&
           (context->version >= 43 || epoxy_has_gl_extension("GL_ARB_separate_shader_objects"));
}

static struct gl_context *find_known(const struct gl_native *native)
{
    for (size_t i = 0; i < mark_count; i++)
        if (marks[i].native.handle == native->handle)
            return &marks[i];
    gr_exit_watch();
    struct gl_context *more = realloc(marks, (mark_count + 1) * sizeof(*marks));
    if (!more)
        return NULL;
    marks = more;
    marks[mark_count] = (struct gl_context){.native = *native};
    return &marks[mark_count++];
}

/*
 * Viewers request OpenGL 3.3, for which NVIDIA's EGL returns 3.3 with new functions as extensions.
 */
static bool has_shaders(const struct gl_context *context)
{
    return can_be_marked(context) &&
           (context->version >= 45 ||
            (epoxy_has_gl_extension("GL_ARB_compute_shader") &&
             epoxy_has_gl_extension("GL_ARB_multi_bind") &&
             epoxy_has_gl_extension("GL_ARB_shader_image_load_store") &&
             epoxy_has_gl_extension("GL_ARB_shader_storage_buffer_object") &&
             epoxy_has_gl_extension("GL_ARB_shader_subroutine") &&
             epoxy_has_gl_extension("GL_ARB_texture_view")));
}

/* Queries the features of a new context. */
static void query_context(struct gl_context *context)
{
    const bool es = context->es = !epoxy_is_desktop_gl();
    const char *vendor = (const char *)glGetString(GL_VENDOR);
    /* beside the software driver it only says so */
    const bool is_of_nvidia = vendor && strstr(vendor, "NVIDIA") && !gr_driver_traits()->mesa_draws;
    GLint profile = 0;
    gl_native_find_display(&context->native);
    context->version = epoxy_gl_version();
    if (!es && context->version >= 32)
        glGetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
    context->compatibility = profile & GL_CONTEXT_COMPATIBILITY_PROFILE_BIT;
    context->direct =
        !es && (context->version >= 45 || epoxy_has_gl_extension("GL_ARB_direct_state_access"));
    context->tells_targets = context->direct && (!context->compatibility || is_of_nvidia);
    context->storage =
        context->version >= 44 ||
        epoxy_has_gl_extension(es ? "GL_EXT_buffer_storage" : "GL_ARB_buffer_storage");
    context->labels = context->version >= (es ? 32 : 43) || epoxy_has_gl_extension("GL_KHR_debug");
    context->inverts =
        epoxy_has_gl_extension(es ? "GL_ANGLE_pack_reverse_row_order" : "GL_MESA_pack_invert");
    context->computes = has_shaders(context);
}

/* Whether the current context has this mark, which exists. */
static bool has_mark(const struct gl_context *known)
{
    char label[sizeof(known->mark) + 1] = "";
    if (!glIsProgramPipeline(known->pipeline))
        return false;
    glGetObjectLabel(GL_PROGRAM_PIPELINE, known->pipeline, sizeof(label), NULL, label);
    return memcmp(label, known->mark, sizeof(known->mark)) == 0;
}

/*
 * A label of 48 bits, in printable characters. The address keeps apart the labels of two copies of
 * grinterop in a process.
 */
static void choose_label(char label[GL_MARK_LENGTH])
{
    static uint64_t made;
    const uint64_t number = (uintptr_t)&made + made++;
    for (size_t i = 0; i < GL_MARK_LENGTH; i++)
        label[i] = (char)('0' + (number >> 6 * i & 63));
}

/* Without direct state access, binding a pipeline creates it. */
static GLuint make_pipeline(bool es)
{
    GLuint name = 0;
    GLint bound = 0;
    if (!es) {
        glCreateProgramPipelines(1, &name);
        return name;
    }
    glGetIntegerv(GL_PROGRAM_PIPELINE_BINDING, &bound);
    glGenProgramPipelines(1, &name);
    glBindProgramPipeline(name);
    glBindProgramPipeline((GLuint)bound);
    return name;
}

/*
 * Marks the current context. Calls has_mark() here, where a context is current: epoxy resolves a
 * function at its first call, and ends the process if no context is current. Later calls are safe
 * anywhere.
 */
static void mark_current(struct gl_context *context, struct gl_context *known)
{
    GL_SAVED(before, GL_SAVE(ERRORS));
    choose_label(context->mark);
    context->pipeline = make_pipeline(context->es);
    if (context->pipeline)
        glObjectLabel(GL_PROGRAM_PIPELINE, context->pipeline, GL_MARK_LENGTH, context->mark);
    if (!has_mark(context)) {
        glDeleteProgramPipelines(1, &context->pipeline);
        context->pipeline = 0;
    }
    *known = *context;
}

bool gl_context_remember(struct gl_context *context)
{
    *context = (struct gl_context){0};
    if (!gl_native_current(&context->native))
        return false;
    GR_LOCKED(&marks_lock);
    struct gl_context *known = find_known(&context->native);
    if (known && known->pipeline && has_mark(known)) {
        *context = *known;
    } else if (!gl_native_is_callable(&context->native)) {
        return false;
    } else {
        query_context(context);
        if (known && can_be_marked(context))
            mark_current(context, known);
    }
    return true;
}

/* Asks the interface. Not inlined into the fast path, which needs no stack for it. */
GR_NOINLINE static bool has_handle(const struct gl_context *context)
{
    struct gl_native native;
    return gl_native_current(&native) && native.handle == context->native.handle;
}

bool gl_context_is_current(const struct gl_context *context)
{
    if (context->group)
        return gl_group_is_current(context->group);
    if (!context->pipeline)
        return has_handle(context);
    return (!GL_NATIVE_ASKS_FIRST || has_handle(context)) && has_mark(context);
}

/* Whether a later context got the same handle. */
static bool handle_was_reused(const struct gl_context *context)
{
    bool reused = false;
    GR_LOCKED(&marks_lock);
    for (size_t i = 0; i < mark_count; i++)
        if (marks[i].native.handle == context->native.handle)
            reused = memcmp(marks[i].mark, context->mark, sizeof(context->mark)) != 0;
    return reused;
}

/* At the exit of the process EGL and the CUDA driver may have ended already: nothing is asked. */
bool gl_context_is_gone(const struct gl_context *context)
{
    if (context->group || gr_is_exiting())
        return false;
    if (context->pipeline && has_handle(context))
        return !has_mark(context);
    if (context->pipeline && handle_was_reused(context))
        return true;
    return gl_native_is_gone(&context->native);
}

bool gl_context_same(const struct gl_context *a, const struct gl_context *b)
{
    return a->group ? a->group == b->group : gl_context_identical(a, b);
}
