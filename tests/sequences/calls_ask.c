/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queries, also with NULL. check_world() repeats the queries about live objects after each call. */
#define _GNU_SOURCE
#include "calls.h"

#include <string.h>

/* Calls a query with NULL, and checks its result and its error. */
#define NULL_GIVES(w, answer)                                                                      \
    do {                                                                                           \
        gr_clear_error();                                                                          \
        must(w, answer);                                                                           \
        judge(w, gr_last_error()->status, MAY(GR_ERR_INVALID_VALUE));                              \
    } while (0)

/* ---- Resources ------------------------------------------------------------------------------- */

/* Calls a query with a live resource or with NULL. */
#define ASK_RESOURCE(function, of_null, right)                                                     \
    bool run_##function(struct world *w, const int *a)                                             \
    {                                                                                              \
        struct resource *r = resource_at(w, a[0]);                                                 \
        if (r && r->life != LIVE)                                                                  \
            return false;                                                                          \
        if (!r)                                                                                    \
            NULL_GIVES(w, function(NULL) == (of_null));                                            \
        else                                                                                       \
            must(w, right);                                                                        \
        return true;                                                                               \
    }

/* check_world() compares the fields of the returned struct. */
ASK_RESOURCE(gr_resource_get_info, NULL,
             r->later || r->ring || gr_resource_get_info(r->it)->mapped == !!r->mapped)
ASK_RESOURCE(gr_gl_name, 0, gr_gl_name(r->it) == r->object->name)
ASK_RESOURCE(gr_gl_target, 0,
             gr_gl_target(r->it) == (r->object->context == ANY_CONTEXT ? 0 : r->object->target))

/* The call truncates the text to any size, terminates it, and returns the full length. */
bool run_gr_resource_describe(struct world *w, const int *a)
{
    struct resource *r = resource_at(w, a[0]);
    char text[256], whole[1024];
    size_t room = (size_t)a[1];
    if (r && r->life != LIVE)
        return false;
    memset(text, 'x', sizeof(text));
    int length = gr_resource_describe(handle_of(r), text, room);
    must(w, length > 0 && length == gr_resource_describe(handle_of(r), whole, sizeof(whole)));
    must(w, text[room] == 'x');
    if (room)
        must(w, strlen(text) < room && strncmp(text, whole, strlen(text)) == 0);
    return true;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

#define ASK_BUFFER(function, right)                                                                \
    bool run_##function(struct world *w, const int *a)                                             \
    {                                                                                              \
        struct buffer *b = buffer_at(w, a[0]);                                                     \
        if (b && b->life != LIVE)                                                                  \
            return false;                                                                          \
        if (!b)                                                                                    \
            NULL_GIVES(w, !function(NULL));                                                        \
        else                                                                                       \
            must(w, right);                                                                        \
        return true;                                                                               \
    }

static bool info_is_right(const gr_buffer_info *info, const struct buffer *b)
{
    return info->stream == b->stream &&
           (info->pitch != 0) == (b->linear_image && b->resource->mapped == b);
}

ASK_BUFFER(gr_buffer_get_info, info_is_right(gr_buffer_get_info(b->it), b))
ASK_BUFFER(gr_buffer_size,
           gr_buffer_size(b->it) ==
               (b->resource->mapped == b && (!b->resource->image || b->linear_image) ? b->size : 0))

/* Only the buffer of a mapped image has no pointer. */
bool run_gr_buffer_ptr(struct world *w, const int *a)
{
    struct buffer *b = buffer_at(w, a[0]);
    if (b && b->life != LIVE)
        return false;
    bool mapped = b && b->resource->mapped == b;
    bool image = mapped && b->resource->image && !b->linear_image;
    gr_clear_error();
    must(w, (gr_buffer_ptr(b ? b->it : NULL) != 0) == (mapped && !image));
    judge(w, gr_last_error()->status,
          !b      ? MAY(GR_ERR_INVALID_VALUE)
          : image ? MAY(GR_ERR_STATE)
                  : 0);
    return true;
}

/* ---- Errors, flags, the log ------------------------------------------------------------------ */

bool run_gr_last_error(struct world *w, const int *a)
{
    (void)a;
    const gr_error *error = gr_last_error();
    must(w, error && error->code_name && error->call && error->message);
    return true;
}

bool run_gr_clear_error(struct world *w, const int *a)
{
    (void)a;
    gr_clear_error();
    judge(w, gr_last_error()->status, 0);
    return true;
}

bool run_gr_error_print(struct world *w, const int *a)
{
    char text[4096] = "";
    (void)a;
    FILE *file = fmemopen(text, sizeof(text), "w");
    must(w, file);
    gr_error_print(file, "this");
    fclose(file);
    must(w, strncmp(text, "this: ", 6) == 0 && strchr(text, '\n') == strrchr(text, '\n'));
    return true;
}

/* Unknown status numbers have names too. */
bool run_gr_status_name(struct world *w, const int *a)
{
    must(w, gr_status_name((gr_status)a[0])[0]);
    return true;
}

bool run_gr_flags_parse(struct world *w, const int *a)
{
    static const struct {
        const char *text;
        unsigned flags;
        bool good;
    } texts[] = {
        {NULL, 0, true},
        {" read_only | surface_load_store", 5, true},
        {"write_discard,texture_gather", 10, true},
        {"read_onl", 0, false},
    };
    unsigned flags = 77;
    gr_status status = gr_flags_parse(texts[a[0]].text, &flags);
    judge(w, status, texts[a[0]].good ? 0 : MAY(GR_ERR_INVALID_VALUE));
    must(w, flags == (texts[a[0]].good ? texts[a[0]].flags : 77));
    if (a[0] == 3)
        judge(w, gr_flags_parse("", NULL), MAY(GR_ERR_INVALID_VALUE));
    return true;
}

static void take_line(void *user, gr_log_level level, const char *line)
{
    (void)user;
    (void)level;
    (void)line[strlen(line)];
}

/* After this call the library formats log lines about live objects. */
bool run_gr_log_add(struct world *w, const int *a)
{
    static const gr_log_level levels[] = {GR_LOG_NONE, GR_LOG_WARNING, GR_LOG_INFO, GR_LOG_DEBUG};
    judge(w, gr_log_add(levels[a[0]], take_line, NULL), 0);
    return true;
}

bool run_gr_log_remove(struct world *w, const int *a)
{
    (void)w;
    (void)a;
    gr_log_remove(take_line, NULL);
    return true;
}

bool run_gr_library_version(struct world *w, const int *a)
{
    (void)a;
    must(w, gr_library_version()[0]);
    return true;
}

/* ---- OpenGL and CUDA ------------------------------------------------------------------------- */

bool run_gr_gl_probe(struct world *w, const int *a)
{
    static const gr_transport asked[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY,
                                         GR_TRANSPORT_SHARED, GR_TRANSPORT_ANY};
    unsigned may = w->gl == GL_CONTEXTS ? MAY(GR_ERR_GL) : 0;
    may |= a[0] == 3 ? MAY(GR_ERR_INVALID_VALUE) : 0;
    const gr_transport_info *info = gr_gl_probe(asked[a[0]]);
    judge_made(w, info, may);
    maybe_collected(w);
    if (info)
        must(w, info->transport == asked[a[0]] && info->reason && (info->usable || a[0] == 2));
    return true;
}

bool run_gr_gl_cuda_device(struct world *w, const int *a)
{
    int device = -7;
    unsigned may = w->gl == GL_CONTEXTS ? MAY(GR_ERR_GL) : 0;
    if (a[0] == 0)
        may |= MAY(GR_ERR_INVALID_VALUE);
    gr_status status = gr_gl_cuda_device(a[0] ? &device : NULL);
    judge(w, status, may);
    must(w, device == (status == GR_OK ? 0 : -7));
    return true;
}

bool run_gr_cuda_find_device(struct world *w, const int *a)
{
    static const unsigned char none[16];
    CUuuid uuid;
    int device = -7;
    if (gr_cuda()->DeviceGetUuid(&uuid, 0) != CUDA_SUCCESS)
        return false;
    const void *const asked[] = {NULL, none, uuid.bytes, uuid.bytes, uuid.bytes};
    const unsigned may[] = {MAY(GR_ERR_INVALID_VALUE), MAY(GR_ERR_UNSUPPORTED), 0, 0, 0};
    gr_status status = gr_cuda_find_device(asked[a[0]], &device);
    judge(w, status, may[a[0]]);
    must(w, device == (status == GR_OK ? 0 : -7));
    return true;
}

bool run_gr_cuda_load(struct world *w, const int *a)
{
    judge(w, gr_cuda_load(a[0] % 2 != 0), 0);
    return true;
}

bool run_gr_cuda_is_software(struct world *w, const int *a)
{
    (void)a;
    must(w, gr_cuda_is_software() == w->software);
    return true;
}

bool run_gr_cuda_driver_path(struct world *w, const int *a)
{
    (void)a;
    must(w, gr_cuda_driver_path()[0]);
    return true;
}

/* ---- EGL ------------------------------------------------------------------------------------- */

/* Creates a context and frees it at once. Afterwards no context is current. */
bool run_gr_egl_create(struct world *w, const int *a)
{
    const gr_egl_options options = GR_INIT(gr_egl_options, .share = a[0] ? NULL : w->egl[0]);
    gr_egl *made = gr_egl_create(&options);
    judge_made(w, made, 0);
    gr_egl_free(made);
    w->gl = GL_CONTEXTS;
    return true;
}
