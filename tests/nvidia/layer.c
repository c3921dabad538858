/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The rules, the objects and the original functions of the layer (layer.h). */
#include "layer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/egl.h>

/* ---- Rules ----------------------------------------------------------------------------------- */

static const char *const rule_names[RULES] = {"refuse", "imported", "discard", "snorm"};
static bool selected[RULES];
bool layer_logs;
_Thread_local int layer_inside;

__attribute__((constructor)) static void select_rules(void)
{
    const char *words = getenv("GR_TEST_NVIDIA");
    for (int i = 0; words && i < RULES; i++)
        selected[i] = strcmp(words, "all") == 0 || strstr(words, rule_names[i]);
    layer_logs = getenv("GR_TEST_NVIDIA_LOG");
}

bool layer_rule(enum rule rule)
{
    return selected[rule] && !layer_inside;
}

/* OpenGL itself sets the error, at a call with a query that does not exist. */
void layer_fail(void)
{
    GLuint result;
    glGetQueryObjectuiv(0xFFFFFFF0u, GL_QUERY_RESULT, &result);
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* Objects with a higher name, and contexts beyond these, are unknown to the layer. */
enum { NAMES = 16384, CONTEXTS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    EGLContext context;
    int group;
} contexts[CONTEXTS];
static int context_count, group_count;
/* The objects of each share group. Group 0 is for contexts that libepoxy did not create. */
static struct object *groups[CONTEXTS + 1][KINDS];

/* The last one first: a context may have the address of an earlier one. */
static int group_of(EGLContext context)
{
    for (int i = context_count; context && i-- > 0;)
        if (contexts[i].context == context)
            return contexts[i].group;
    return 0;
}

HOOK(EGLContext, eglCreateContext, EGLDisplay display, EGLConfig config, EGLContext share,
     const EGLint *attributes)
{
    EGLContext made = next_eglCreateContext()(display, config, share, attributes);
    pthread_mutex_lock(&lock);
    if (made && context_count < CONTEXTS) {
        contexts[context_count].group = share ? group_of(share) : ++group_count;
        contexts[context_count++].context = made;
    }
    pthread_mutex_unlock(&lock);
    return made;
}

struct object *layer_object(enum kind kind, GLuint name)
{
    static _Thread_local struct object unknown;
    struct object *found = NULL;
    unknown = (struct object){0};
    if (name == 0 || name >= NAMES)
        return &unknown;
    pthread_mutex_lock(&lock);
    struct object **objects = &groups[group_of(eglGetCurrentContext())][kind];
    if (*objects || (*objects = calloc(NAMES, sizeof(**objects))))
        found = &(*objects)[name];
    pthread_mutex_unlock(&lock);
    return found ? found : &unknown;
}

void layer_delete(enum kind kind, GLsizei count, const GLuint *names)
{
    for (GLsizei i = 0; !layer_inside && i < count; i++) {
        struct object *object = layer_object(kind, names[i]);
        layer_forget(object);
        *object = (struct object){.life = object->life + 1};
    }
}

GLuint layer_bound(GLenum target)
{
    static const GLenum bindings[][2] = {
        {GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING},
        {GL_ELEMENT_ARRAY_BUFFER, GL_ELEMENT_ARRAY_BUFFER_BINDING},
        {GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING},
        {GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING},
        {GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING},
        {GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING},
        {GL_UNIFORM_BUFFER, GL_UNIFORM_BUFFER_BINDING},
        {GL_SHADER_STORAGE_BUFFER, GL_SHADER_STORAGE_BUFFER_BINDING},
        {GL_TEXTURE_1D, GL_TEXTURE_BINDING_1D},
        {GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D},
        {GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D},
        {GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE},
        {GL_TEXTURE_1D_ARRAY, GL_TEXTURE_BINDING_1D_ARRAY},
        {GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY},
        {GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP},
        {GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY},
    };
    GLint name = 0;
    if (target >= GL_TEXTURE_CUBE_MAP_POSITIVE_X && target <= GL_TEXTURE_CUBE_MAP_NEGATIVE_Z)
        target = GL_TEXTURE_CUBE_MAP;
    for (size_t i = 0; i < sizeof(bindings) / sizeof(*bindings); i++)
        if (bindings[i][0] == target)
            glGetIntegerv(bindings[i][1], &name);
    return (GLuint)name;
}

/* ---- The original functions ------------------------------------------------------------------ */

void *layer_find(const char *name)
{
    if (strncmp(name, "egl", 3) != 0) {
        void (*function)(void) = eglGetProcAddress(name);
        return *(void **)(void *)&function;
    }
    void *library = dlopen("libEGL.so.1", RTLD_LAZY);
    return library ? dlsym(library, name) : NULL;
}
