/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Recognises an OpenGL object by its label. The name of a deleted object may belong to another
 * object at once, and no query but the label tells the two apart: a new object has none.
 */
#ifndef GR_GL_CONTEXT_OBJECT_LABEL_H
#define GR_GL_CONTEXT_OBJECT_LABEL_H

#include "gl/context/context.h"

/*
 * Reads the label of an existing object, and gives it one if it has none. True if this call gave
 * it. `kind` is GL_BUFFER, GL_TEXTURE or GL_RENDERBUFFER. Other registrations of the object find
 * the label, so it stays until the object is deleted.
 */
bool gl_label_take(struct gl_label *label, const struct gl_context *context, unsigned kind,
                   unsigned name);

/* Whether grinterop gave the label, and not the application, which may give it to many objects. */
static inline bool gl_label_is_own(const struct gl_label *label)
{
    return strncmp(label->text, GL_LABEL_PREFIX, sizeof(GL_LABEL_PREFIX) - 1) == 0;
}

/* Removes the label that gl_label_take() gave. */
void gl_label_remove(struct gl_label *label, unsigned kind, unsigned name);

/*
 * Whether the object of that name exists and is still the one of the label. A label that the
 * application has set since then says neither: it becomes the label to compare.
 */
bool gl_label_holds(struct gl_label *label, unsigned kind, unsigned name);

#endif
