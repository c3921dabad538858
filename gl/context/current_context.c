/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Identifies the current OpenGL context by a mark. */
#include "gl/context/context.h"
#include "lib/base/lock.h"

#include <stdlib.h>

#include <epoxy/gl.h>

/* The marked contexts. The handle of a destroyed context may be reused, but its mark is not. */
static pthread_mutex_t marks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gl_context *marks;
static size_t mark_count;
/*
 * The first mark: above the names that applications use, and low, because mark n costs n objects.
 */
static GLsizei next_mark = 101;
/* The largest mark. A context that returns larger names is not marked, but queried each time. */
#define LARGEST_MARK (1u << 20)

/*
 * Whether the context has program pipelines. The NVIDIA driver also offers them in older contexts,
 * as extensions.
 */
static bool has_program_pipelines(const struct gl_context *context)
{
    return context->direct &&
           (context->version >= 41 || epoxy_has_gl_extension("GL_ARB_separate_shader_objects"));
}

/*
 * Creates the mark. OpenGL returns the lowest free names, so to get a chosen name this function
 * creates that many objects and deletes all but the last one.
 */
static GLuint make_mark(void)
{
    GLsizei count = next_mark;
    GLuint *names = calloc((size_t)count, sizeof(*names));
    if (!names)
        return 0;
    glCreateProgramPipelines(count, names);
    glDeleteProgramPipelines(count - 1, names);
    GLuint mark = names[count - 1];
    free(names);
    /*
     * If the application already uses some of these names, OpenGL returns a larger mark. The next
     * mark must be larger than that.
     */
    if (mark > LARGEST_MARK) {
        glDeleteProgramPipelines(1, &mark);
        return 0;
    }
    if (mark)
        next_mark = (GLsizei)mark + 1;
    return mark;
}

static struct gl_context *find_known(const struct gl_native *native)
{
    for (size_t i = 0; i < mark_count; i++)
        if (marks[i].native.handle == native->handle)
            return &marks[i];
    struct gl_context *more = realloc(marks, (mark_count + 1) * sizeof(*marks));
    if (!more)
        return NULL;
    marks = more;
    marks[mark_count] = (struct gl_context){.native = *native};
    return &marks[mark_count++];
}

/* Queries the features of a new context. */
static void query_context(struct gl_context *context)
{
    bool desktop = epoxy_is_desktop_gl();
    gl_native_find_display(&context->native);
    context->version = desktop ? epoxy_gl_version() : 0;
    context->direct =
        desktop && (context->version >= 45 || epoxy_has_gl_extension("GL_ARB_direct_state_access"));
    context->storage =
        desktop && (context->version >= 44 || epoxy_has_gl_extension("GL_ARB_buffer_storage"));
    context->inverts = epoxy_has_gl_extension("GL_MESA_pack_invert");
}

/*
 * Whether `known` is the current context. Another context may have the same handle, but it does not
 * have the mark.
 */
static bool has_mark(const struct gl_context *known)
{
    return known->mark && glIsProgramPipeline(known->mark);
}

/*
 * Marks the current context. Calls glIsProgramPipeline() here, where a context is current: epoxy
 * resolves a function at its first call, and ends the process if no context is current. Later calls
 * are safe anywhere.
 */
static void mark_current(struct gl_context *context, struct gl_context *known)
{
    GLuint mark = make_mark();
    context->mark = glIsProgramPipeline(mark) ? mark : 0;
    *known = *context;
}

bool gl_context_remember(struct gl_context *context)
{
    *context = (struct gl_context){0};
    if (!gl_native_current(&context->native))
        return false;
    GR_LOCKED(&marks_lock);
    struct gl_context *known = find_known(&context->native);
    if (known && has_mark(known)) {
        *context = *known;
    } else {
        query_context(context);
        if (known && has_program_pipelines(context))
            mark_current(context, known);
    }
    return true;
}

bool gl_context_is_current(const struct gl_context *context)
{
    struct gl_native native;
    if (context->group)
        return gl_group_is_current(context->group);
    if (context->mark && !GL_NATIVE_ASKS_FIRST)
        return glIsProgramPipeline(context->mark);
    return gl_native_current(&native) && native.handle == context->native.handle &&
           (!context->mark || glIsProgramPipeline(context->mark));
}

/* Whether a later context got the same handle. */
static bool handle_was_reused(const struct gl_context *context)
{
    bool reused = false;
    GR_LOCKED(&marks_lock);
    for (size_t i = 0; i < mark_count; i++)
        if (marks[i].native.handle == context->native.handle)
            reused = marks[i].mark != context->mark;
    return reused;
}

bool gl_context_is_gone(const struct gl_context *context)
{
    struct gl_native now;
    if (context->mark && gl_native_current(&now) && now.handle == context->native.handle)
        return !glIsProgramPipeline(context->mark);
    if (context->mark && handle_was_reused(context))
        return true;
    return gl_native_is_gone(&context->native);
}

bool gl_context_identical(const struct gl_context *a, const struct gl_context *b)
{
    return a->group == b->group && a->mark == b->mark && a->native.handle == b->native.handle;
}

bool gl_context_same(const struct gl_context *a, const struct gl_context *b)
{
    return a->group ? a->group == b->group : gl_context_identical(a, b);
}
