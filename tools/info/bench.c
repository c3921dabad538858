/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * --bench: three figures for choosing how to share, in less than ten seconds.
 *
 * a map and a release        CPU time for each resource and frame
 * frames in order            when OpenGL and CUDA take turns, the simplest way
 * frames by a ring           when several frames are in flight
 *
 * In each frame CUDA writes a mesh of 65536 vertices, 1 MiB, and OpenGL draws it as points into 512
 * by 512 pixels. The frame is small, so that most of its time is the cost of sharing. CUDA writes
 * by a kernel: the GPU switches between graphics and compute for kernels but not for copies, and
 * that switch is most of the cost of sharing.
 *
 * Frames are counted over whole runs, which end when OpenGL and CUDA have finished. Shorter
 * measurements would measure calls instead of frames. The report has the median, the slowest and
 * the fastest run.
 */
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include <grinterop/egl.h>

#include "lib/platform/clock.h"
#include "tools/info/find.h"
#include "tools/info/opengl.h"
#include "tools/info/try.h"

enum {
    RUNS = 5,
    PAIRS = 50,
    SLOTS = 16,
    MAP_BYTES = 64 << 10,
    RUN_MS = 300,
    VERTICES = TRY_BUFFER_BYTES / 16,
    PIXELS = 512
};

struct bench {
    struct trial *t;
    /* NULL on the software driver, where a fill replaces the kernel, as PTX needs a GPU */
    CUfunction mesh;
    const char *failed; /* the first failed call outside of grinterop, or NULL */
    gr_resource *resource;
    gr_ring *ring;
    gr_transport transport; /* the transport of the resource, or of the last slot */
};

/* The sorted results of the runs. */
struct spread {
    double least, median, most;
};

static bool is_fine(struct bench *bench, bool good, const char *call)
{
    if (!good && !bench->failed)
        bench->failed = call;
    return good;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static bool open_cuda(struct bench *bench, int device)
{
    if (!try_open(bench->t, &bench->t->cuda, device)) {
        is_fine(bench, !bench->t->cuda.context,
                "cuMemAlloc"); /* without `failed`, the failure is an error of grinterop */
        return false;
    }
    bench->mesh = try_kernel(bench->t, "mesh");
    return is_fine(bench, bench->mesh || gr_cuda_is_software(), "cuModuleLoadData");
}

static bool write_mesh(struct bench *bench, gr_buffer *buffer, unsigned number)
{
    const gr_cuda_api *cu = bench->t->cu;
    CUstream stream = bench->t->cuda.stream;
    CUdeviceptr vertices = gr_buffer_ptr(buffer);
    float phase = (float)(number % 10) / 10.0f;
    void *arguments[] = {&vertices, &phase};
    if (!bench->mesh)
        return is_fine(
            bench, cu->MemsetD32Async(vertices, 0, TRY_BUFFER_BYTES / 4, stream) == CUDA_SUCCESS,
            "cuMemsetD32Async");
    CUresult result = cu->LaunchKernel(bench->mesh, VERTICES / TRY_THREADS, 1, 1, TRY_THREADS, 1, 1,
                                       0, stream, arguments, NULL);
    return is_fine(bench, result == CUDA_SUCCESS, "cuLaunchKernel");
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

/* All OpenGL objects live until the process ends. */
static bool make_program(struct bench *bench)
{
    static const GLenum kinds[2] = {GL_VERTEX_SHADER, GL_FRAGMENT_SHADER};
    static const char *const sources[2] = {
        "#version 330 core\n"
        "layout(location = 0) in vec4 vertex;\n"
        "void main() { gl_Position = vec4(vertex.xy, 0.0, 1.0); }\n",
        "#version 330 core\n"
        "out vec4 colour;\n"
        "void main() { colour = vec4(0.2, 0.6, 1.0, 1.0); }\n",
    };
    GLint linked = 0;
    GLuint program = glCreateProgram();
    for (int i = 0; i < 2; i++) {
        GLuint shader = glCreateShader(kinds[i]);
        glShaderSource(shader, 1, &sources[i], NULL);
        glCompileShader(shader);
        glAttachShader(program, shader);
    }
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    glUseProgram(program);
    return is_fine(bench, linked, "glLinkProgram");
}

static bool open_opengl(struct bench *bench)
{
    GLuint framebuffer, pixels, array;
    if (!make_program(bench))
        return false;
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, &pixels);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glEnableVertexAttribArray(0);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, pixels);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, PIXELS, PIXELS);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, pixels);
    glViewport(0, 0, PIXELS, PIXELS);
    return is_fine(bench, glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE,
                   "glCheckFramebufferStatus");
}

static void draw(gr_resource *vertices)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glBindBuffer(GL_ARRAY_BUFFER, gr_gl_name(vertices));
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    glDrawArrays(GL_POINTS, 0, VERTICES);
}

static bool wait_for_both(struct bench *bench)
{
    CUresult result = bench->t->cu->StreamSynchronize(bench->t->cuda.stream);
    if (!is_fine(bench, result == CUDA_SUCCESS, "cuStreamSynchronize"))
        return false;
    glFinish();
    return is_fine(bench, glGetError() == GL_NO_ERROR, "glGetError");
}

/* ---- The repeated operations: false after a failure ------------------------------------------ */

static bool map_and_release(struct bench *bench, unsigned number)
{
    (void)number;
    gr_buffer *buffer = gr_map(bench->resource, bench->t->cuda.stream);
    return buffer && gr_buffer_release(buffer) == GR_OK;
}

static bool frame_in_order(struct bench *bench, unsigned number)
{
    gr_buffer *buffer = gr_map(bench->resource, bench->t->cuda.stream);
    if (!buffer)
        return false;
    bool good = write_mesh(bench, buffer, number);
    if (gr_buffer_release(buffer) != GR_OK || !good)
        return false;
    draw(bench->resource);
    return true;
}

static bool frame_by_ring(struct bench *bench, unsigned number)
{
    const gr_slot *slot;
    gr_ring *ring = bench->ring;
    CUstream stream = bench->t->cuda.stream;
    if (gr_ring_acquire_write(ring, stream, &slot, 1, TRY_RING_MS) != GR_OK ||
        !write_mesh(bench, slot->buffer, number) || gr_ring_hand_over(ring, &slot, 1) != GR_OK ||
        gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, TRY_RING_MS) != GR_OK)
        return false;
    draw(slot->resource);
    return gr_ring_give_back(ring, &slot, 1) == GR_OK;
}

/* ---- The figures ----------------------------------------------------------------------------- */

static const struct figure {
    const char *step, *id, *lacking;
    bool (*once)(struct bench *bench, unsigned number);
    size_t bytes;   /* the size of the resource */
    size_t slots;   /* the slots of the ring; 0: one resource without a ring */
    unsigned times; /* the repeats per run; 0: as many as fit in RUN_MS */
    const char *words;
} figures[] = {
    {"maps and releases", "bench/map", "no figure for a map and a release", map_and_release,
     MAP_BYTES, 0, PAIRS, "microseconds for a map and a release"},
    {"frames in order", "bench/in-order", "no figure for frames in order", frame_in_order,
     TRY_BUFFER_BYTES, 0, 0, "frames per second one after the other"},
    {"frames by a ring", "bench/ring", "no figure for a ring", frame_by_ring, TRY_BUFFER_BYTES,
     SLOTS, 0, "frames per second with up to 16 in flight in a ring"},
};

static gr_resource *make_buffer(struct bench *bench, size_t size, unsigned transports)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transports);
    gr_resource *made = gr_gl_buffer_create(size, GR_WRITE_DISCARD, &options);
    if (made)
        bench->transport = gr_resource_get_info(made)->transport;
    return made;
}

static gr_resource *make_slot(void *bench)
{
    return make_buffer(bench, TRY_BUFFER_BYTES, GR_TRANSPORT_ANY);
}

static bool make(struct bench *bench, const struct figure *figure)
{
    if (figure->slots)
        return (bench->ring = try_make_ring(figure->slots, make_slot, bench));
    bench->resource = make_buffer(bench, figure->bytes, GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY);
    return bench->resource;
}

/* Microseconds for a map and a release, or frames per second; 0 on failure. */
static double run(struct bench *bench, const struct figure *figure)
{
    unsigned count = 0;
    const double begin = gr_clock_ms();
    while (figure->times ? count < figure->times : gr_clock_ms() - begin < RUN_MS)
        if (!figure->once(bench, count++))
            return 0;
    /*
     * For map and release, only the time of the calling thread counts. The wait empties the queues
     * for the next run.
     */
    const double called = gr_clock_ms() - begin;
    if (!wait_for_both(bench))
        return 0;
    return figure->times ? 1e3 * called / count : 1e3 * count / (gr_clock_ms() - begin);
}

static int compare(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Measures several runs. A first run, which does not count, warms up. */
static bool measure(struct bench *bench, const struct figure *figure, struct spread *spread)
{
    double runs[RUNS];
    for (int i = -1; i < RUNS; i++) {
        double took = run(bench, figure);
        if (took <= 0)
            return false;
        runs[i < 0 ? 0 : i] = took;
    }
    qsort(runs, RUNS, sizeof(runs[0]), compare);
    *spread = (struct spread){runs[0], runs[RUNS / 2], runs[RUNS - 1]};
    return true;
}

/* ---- Results --------------------------------------------------------------------------------- */

static void say_failure(const struct bench *bench, const char *id, const char *label)
{
    if (bench->failed)
        say(id, MARK_BAD, label, "%s failed. %s", bench->failed,
            strcmp(bench->failed, "cuModuleLoadData") == 0
                ? "The driver's compiler may be missing: libnvidia-ptxjitcompiler.so.1."
                : "grinterop-info --probe tries the way without timing, and reports more.");
    else
        say_error(id, label);
}

static void say_figure(const struct bench *bench, const struct figure *figure, const char *by,
                       const struct spread *spread)
{
    const bool soft = gr_cuda_is_software();
    const char *software = "This is the software driver: its figures do not apply to any GPU.";
    const int digits = figure->times ? 2 : 1;
    const char *label = text_of("%.*f %s, by %s", digits - 1, spread->median, figure->words, by);
    if (figure->times)
        say(figure->id, MARK_NOTE, label,
            "Time that the calling thread needs for one buffer of 64 KiB while the queues have "
            "room: the median of 5 runs of 50 (fastest %.1f, slowest %.1f). gr_map_many() maps "
            "several buffers in one call. %s",
            spread->least, spread->most, soft ? software : "");
    else
        say(figure->id, MARK_NOTE, label,
            "In each frame, %s writes 65536 vertices (1 MiB), and OpenGL draws them as points into "
            "512 x 512 pixels. This is the median of 5 runs (slowest %.0f, fastest %.0f). %s",
            bench->mesh ? "a kernel" : "a fill by CUDA", spread->least, spread->most,
            soft ? software : "Larger frames are slower.");
    say_fact(figure->times ? "microseconds" : "frames_per_second", "%.*f", digits, spread->median);
    say_fact("least", "%.*f", digits, spread->least);
    say_fact("most", "%.*f", digits, spread->most);
    if (!figure->times)
        say_fact("kernel", "%s", bench->mesh ? "yes" : "no");
}

static void find_figure(struct bench *bench, const struct figure *figure)
{
    struct spread spread;
    const char *by = "copies through host memory";
    say_step(figure->step);
    bench->failed = NULL;
    if (!make(bench, figure) || !measure(bench, figure, &spread)) {
        say_failure(bench, figure->id, figure->lacking);
        return;
    }
    for (size_t i = 0; i < TRANSPORTS; i++)
        if (transports[i].transport == bench->transport)
            by = transports[i].brief;
    say_figure(bench, figure, by, &spread);
    if (figure->slots)
        gr_ring_free(bench->ring);
    else
        gr_resource_free(bench->resource);
}

void find_bench(const struct find *find)
{
    static struct trial t;
    struct bench bench = {.t = &t};
    const gr_egl_options options = GR_INIT(gr_egl_options, .cuda_device = find->device);
    gr_egl *egl = gr_egl_create(&options);
    if (!egl || !open_cuda(&bench, find->device) || !open_opengl(&bench)) {
        say_failure(&bench, "bench", "no figures");
        return;
    }
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        find_figure(&bench, &figures[i]);
    gr_cuda_context_free(t.cuda.context);
}
