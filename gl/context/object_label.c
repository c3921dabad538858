/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The labels by which objects are recognised (object_label.h). */
#include "gl/context/object_label.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/base/compiler.h"
#include "gl/context/saved_state.h"

static struct gl_label read_label(GLenum kind, GLuint name)
{
    struct gl_label label = {""};
    glGetObjectLabel(kind, name, sizeof(label.text), NULL, label.text);
    return label;
}

bool gl_label_take(struct gl_label *label, const struct gl_context *context, unsigned kind,
                   unsigned name)
{
    static _Atomic(uint64_t) made;
    *label = (struct gl_label){""};
    if (!context->labels)
        return false;
    GL_SAVED(before, GL_SAVE(ERRORS));
    *label = read_label(kind, name);
    if (*label->text)
        return false;
    /* the address keeps apart the labels of two copies of grinterop in a process */
    snprintf(label->text, sizeof(label->text), GL_LABEL_PREFIX "%" PRIu64 " (%p)",
             atomic_fetch_add(&made, 1) + 1, (void *)&made);
    glObjectLabel(kind, name, -1, label->text);
    if (strcmp(read_label(kind, name).text, label->text) == 0)
        return true;
    *label->text = '\0';
    return false;
}

void gl_label_remove(struct gl_label *label, unsigned kind, unsigned name)
{
    glObjectLabel(kind, name, 0, NULL);
    *label->text = '\0';
}

/* Not inlined: a label that has not changed needs no registers for this. */
GR_NOINLINE static bool adopt(struct gl_label *label, const struct gl_label *now)
{
    if (!*now->text || gl_label_is_own(now))
        return false;
    *label = *now;
    return true;
}

static bool exists(GLenum kind, GLuint name)
{
    return kind == GL_BUFFER         ? glIsBuffer(name)
           : kind == GL_RENDERBUFFER ? glIsRenderbuffer(name)
                                     : glIsTexture(name);
}

bool gl_label_holds(struct gl_label *label, unsigned kind, unsigned name)
{
    if (!exists(kind, name))
        return false;
    if (!*label->text)
        return true;
    struct gl_label now;
    *now.text = '\0';
    glGetObjectLabel(kind, name, sizeof(now.text), NULL, now.text);
    return strcmp(now.text, label->text) == 0 || adopt(label, &now);
}
