/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every order of death: what a mapped resource needs, and the resource and its buffer, or a ring
 * with a slot that is being written, end in each order, by each transport. Nothing crashes or
 * hangs, each end says what it should, and in the end nothing is open. docs/guide.md has the table.
 *
 * The orders of one life run in a child, each with new contexts, and the child ends by itself. One
 * that does not is left behind: the next child goes on with the order after it.
 */
#define _GNU_SOURCE
#include "child_check.h"
#include "support_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE  4096
#define SLOTS 3

/* ---- Lives ----------------------------------------------------------------------------------- */

/* What ends: each letter is a death. */
enum {
    GRAPHICS = 'G',
    CUDA = 'C',
    RESOURCE = 'R',
    BUFFER = 'B',
    RING = 'N',
    DEATHS = 4,
    MOST = 24
};

static const struct kind {
    const char *name;
    gr_transport transport;
    const char *deaths;
    bool in_thread;  /* all is made by a thread that has ended when the deaths begin */
    bool is_primary; /* the CUDA context is the device's primary one, by gr_cuda_context_create() */
} kinds[] = {
    {"interop", GR_TRANSPORT_INTEROP, "GCRB", false, false},
    {"copy", GR_TRANSPORT_COPY, "GCRB", false, false},
    {"shared", GR_TRANSPORT_SHARED, "GCRB", false, false},
    {"vulkan", GR_TRANSPORT_EXTERNAL, "GCRB", false, false},
    {"interop, a thread first", GR_TRANSPORT_INTEROP, "GCRB", true, false},
    {"copy, a thread first", GR_TRANSPORT_COPY, "GCRB", true, false},
    {"shared, a thread first", GR_TRANSPORT_SHARED, "GCRB", true, false},
    {"vulkan, a thread first", GR_TRANSPORT_EXTERNAL, "GCRB", true, false},
    {"interop, primary context", GR_TRANSPORT_INTEROP, "GCRB", false, true},
    {"copy, primary context", GR_TRANSPORT_COPY, "GCRB", false, true},
    {"shared, primary context", GR_TRANSPORT_SHARED, "GCRB", false, true},
    {"vulkan, primary context", GR_TRANSPORT_EXTERNAL, "GCRB", false, true},
    {"ring by interop", GR_TRANSPORT_INTEROP, "GCRN", false, false},
    {"ring by copy", GR_TRANSPORT_COPY, "GCRN", false, false},
    {"ring by sharing", GR_TRANSPORT_SHARED, "GCRN", false, false},
    {"ring of vulkan's", GR_TRANSPORT_EXTERNAL, "GCRN", false, false},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct life {
    const struct kind *kind;
    gr_egl *egl;
    gr_vk_headless *headless;
    gr_vk_device *device;
    CUcontext cuda;
    gr_cuda_context *primary; /* or this one */
    CUstream stream;
    gr_resource *resources[SLOTS];
    size_t count;
    gr_buffer *buffer;
    gr_ring *ring;
    bool no_graphics, no_cuda; /* they have died */
    const char *missing;       /* why there is no such life here */
};

static const gr_cuda_api *cu;

static bool is_ring(const struct life *life)
{
    return strchr(life->kind->deaths, RING);
}

static bool is_vulkan(const struct life *life)
{
    return life->kind->transport == GR_TRANSPORT_EXTERNAL;
}

static void open_vulkan(struct life *life)
{
    life->headless = gr_vk_headless_create(NULL);
    if (!life->headless) {
        life->missing = error_text();
        return;
    }
    const gr_vk_headless_info *h = gr_vk_headless_get(life->headless);
    life->device =
        gr_vk_device_wrap(&GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr, h->instance,
                                   h->physical_device, h->device, h->graphics, h->graphics_family));
    child_check(life->device);
}

static gr_resource *make_resource(struct life *life)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = life->kind->transport);
    if (is_vulkan(life))
        return gr_vk_buffer_create(life->device, &info, GR_READ_WRITE);
    if (life->kind->transport == GR_TRANSPORT_SHARED)
        return gr_gl_buffer_create(SIZE, GR_READ_WRITE, &options);
    return gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 1), GR_READ_WRITE, &options);
}

static void begin_ring(struct life *life)
{
    const gr_slot *slot = NULL;
    life->ring = gr_ring_create(life->resources, life->count, NULL);
    child_check(life->ring);
    child_check(gr_ring_acquire_write(life->ring, life->stream, &slot, 1, 0) == GR_OK);
    life->buffer = slot->buffer;
    child_check(cu->MemsetD8Async(gr_buffer_ptr(slot->buffer), 2, SIZE, life->stream) ==
                CUDA_SUCCESS);
}

static void begin_mapping(struct life *life)
{
    for (int i = 0; i < 2; i++) {
        life->buffer = gr_map(life->resources[0], life->stream);
        child_check(life->buffer);
        child_check(cu->MemsetD8Async(gr_buffer_ptr(life->buffer), 2, SIZE, life->stream) ==
                    CUDA_SUCCESS);
        child_check(i == 1 || gr_buffer_release(life->buffer) == GR_OK);
    }
}

static void open_cuda(struct life *life)
{
    if (life->kind->is_primary) {
        life->primary = gr_cuda_context_create(fixture_cuda_device());
        child_check(life->primary);
        life->cuda = gr_cuda_context_context(life->primary);
        life->stream = gr_cuda_context_stream(life->primary);
        return;
    }
    child_check(cu->CtxCreate(&life->cuda, 0, fixture_cuda_device()) == CUDA_SUCCESS);
    child_check(cu->StreamCreate(&life->stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
}

static void begin(struct life *life)
{
    open_cuda(life);
    if (is_vulkan(life))
        open_vulkan(life);
    else
        child_check(life->egl = gr_egl_create(NULL));
    for (; life->count < (is_ring(life) ? SLOTS : 1) && !life->missing; life->count++) {
        life->resources[life->count] = make_resource(life);
        if (!life->resources[life->count]) {
            life->missing = error_text();
            return;
        }
    }
    if (!life->missing)
        (is_ring(life) ? begin_ring : begin_mapping)(life);
}

/* EGL keeps the context of a thread that ends with it, and nobody else can have it. */
static void *begin_in_thread(void *life)
{
    begin(life);
    gr_egl_make_current(NULL);
    return NULL;
}

/* The deaths are this thread's, which has what is left of the contexts. */
static void begin_where(struct life *life)
{
    pthread_t thread;
    if (!life->kind->in_thread) {
        begin(life);
        return;
    }
    child_check(pthread_create(&thread, NULL, begin_in_thread, life) == 0);
    pthread_join(thread, NULL);
    child_check(cu->CtxSetCurrent(life->cuda) == CUDA_SUCCESS);
    if (life->egl)
        child_check(gr_egl_make_current(life->egl) == GR_OK);
}

/* ---- Deaths ---------------------------------------------------------------------------------- */

/*
 * What gr_buffer_release() has to say. Vulkan's objects are held as long as they are needed. The
 * slot of a ring was unmapped by its end, where that needs no OpenGL.
 */
static gr_status expected(const struct life *life)
{
    const gr_transport transport = life->kind->transport;
    if (life->no_graphics && transport != GR_TRANSPORT_EXTERNAL &&
        !(life->ring && transport == GR_TRANSPORT_SHARED))
        return GR_ERR_GL;
    return life->no_cuda && !life->ring ? GR_ERR_PARTIAL : GR_OK;
}

static int left_open; /* mappings that nothing ends any more */

static void end_buffer(struct life *life)
{
    gr_status wanted = expected(life), got = gr_buffer_release(life->buffer);
    ck_assert_msg(got == wanted, "gr_buffer_release gave %s, not %s: %s", gr_status_name(got),
                  gr_status_name(wanted), error_text());
    if (got != GR_ERR_GL)
        return;
    left_open++;
    gr_buffer_release_later(life->buffer);
}

/* By copy CUDA's work is with memory that OpenGL keeps mapped, which ends with the context. */
static void end_graphics(struct life *life)
{
    if (life->egl && !life->no_cuda)
        child_check(cu->StreamSynchronize(life->stream) == CUDA_SUCCESS);
    gr_egl_free(life->egl);
    gr_vk_device_free(life->device);
    gr_vk_headless_free(life->headless);
    life->no_graphics = true;
}

static void end_cuda(struct life *life)
{
    gr_cuda_context_free(life->primary);
    child_check(life->primary || cu->CtxDestroy(life->cuda) == CUDA_SUCCESS);
    life->no_cuda = true;
}

static void die(struct life *life, char death)
{
    switch (death) {
    case GRAPHICS:
        end_graphics(life);
        break;
    case CUDA:
        end_cuda(life);
        break;
    case RESOURCE:
        for (size_t i = 0; i < life->count; i++)
            gr_resource_free(life->resources[i]);
        break;
    case BUFFER:
        end_buffer(life);
        break;
    default:
        gr_ring_free(life->ring);
        end_buffer(life);
    }
    gr_clear_error();
}

/* ---- Orders ---------------------------------------------------------------------------------- */

/* The order of that number: each digit of it says which of those that are left is next. */
static void order_of(int number, const char *deaths, char order[DEATHS + 1])
{
    char left[DEATHS + 1];
    strcpy(left, deaths);
    for (int n = DEATHS; n > 0; n--) {
        int place = number % n;
        number /= n;
        order[DEATHS - n] = left[place];
        memmove(left + place, left + place + 1, strlen(left + place));
    }
    order[DEATHS] = '\0';
}

/* The parent says which life, and from which order on. */
#define KIND_VARIABLE  "DEATH_KIND"
#define ORDER_VARIABLE "DEATH_ORDER"

static int number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

static const char *live_one(const struct kind *kind, int number)
{
    char order[DEATHS + 1];
    struct life life = {.kind = kind};
    order_of(number, kind->deaths, order);
    begin_where(&life);
    printf("alive\n");
    fflush(stdout);
    if (!life.missing)
        for (int i = 0; i < DEATHS; i++)
            die(&life, order[i]);
    return life.missing;
}

static int live_and_die(void)
{
    const struct kind *kind = &kinds[number_of(KIND_VARIABLE)];
    child_check(gr_cuda_load(true) == GR_OK);
    cu = gr_cuda();
    for (int number = number_of(ORDER_VARIABLE); number < MOST; number++) {
        char order[DEATHS + 1];
        order_of(number, kind->deaths, order);
        printf("order %d, %s\n", number, order);
        fflush(stdout);
        const char *missing = live_one(kind, number);
        if (missing) {
            printf("missing: %s\n", missing);
            return 0;
        }
    }
    printf("left open: %d\n", left_open);
    gr_log_set(GR_LOG_INFO, NULL, NULL); /* says what is open at the end */
    return 0;
}

static const struct child children[] = {{"live_and_die", live_and_die}, {NULL, NULL}};

/* ---- The parent ------------------------------------------------------------------------------ */

#define OPEN_AT_END "the process ends with "
#define WORDS       600

static void set_number(const char *variable, int number)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", number);
    setenv(variable, text, 1);
}

/* The last order that the child has begun; -1: none. */
static int last_order(const char *text)
{
    int last = -1;
    for (const char *at = text; (at = strstr(at, "order ")); at++)
        last = atoi(at + strlen("order "));
    return last;
}

/*
 * Whether the child ended while it made what another life needs. NVIDIA's driver 580 crashes there
 * in some imports, after a CUDA context ended that had imports: docs/driver.md. The order then
 * begins a process of its own.
 */
static bool died_in_an_import(const char *said, int first, int last)
{
    const char *driver = getenv("GR_CUDA_DRIVER"), *order = said;
    for (const char *at = said; (at = strstr(at, "order ")); at++)
        order = at;
    return last > first && !strstr(order, "alive") && driver && strcmp(driver, "soft") != 0;
}

/* What the log says is open at the end: the mappings that the child has counted, and no more. */
static bool is_counted(const char *said)
{
    const char *counted = strstr(said, "left open: "), *open = strstr(said, OPEN_AT_END);
    int left = counted ? atoi(counted + strlen("left open: ")) : -1;
    if (!open)
        return left == 0;
    return left == atoi(open + strlen(OPEN_AT_END)) && !strstr(open + 1, OPEN_AT_END) &&
           strstr(open, "without gr_buffer_release()");
}

/* Where the child's last words begin, as many as a message has room for. */
static const char *last_words(const char *said)
{
    const char *open = strstr(said, OPEN_AT_END);
    size_t length = strlen(said);
    return open ? open : said + (length > WORDS ? length - WORDS : 0);
}

static void note_bad(char *bad, size_t size, const char *name, int status, const char *said)
{
    size_t used = strlen(bad);
    snprintf(bad + used, size - used, "\n%s ended with 0x%x: %.*s", name, (unsigned)status, WORDS,
             last_words(said));
}

START_TEST(each_order)
{
    static char said[65536], bad[3000];
    bad[0] = '\0';
    set_number(KIND_VARIABLE, _i);
    for (int next = 0, status = 1; next < MOST && status != 0;) {
        set_number(ORDER_VARIABLE, next);
        status = child_run("live_and_die", said, sizeof(said));
        const char *missing = strstr(said, "missing: ");
        if (status == 0 && missing)
            skip("%s: %.300s", kinds[_i].name, missing + strlen("missing: "));
        int last = last_order(said);
        bool again = status != 0 && died_in_an_import(said, next, last);
        if (!again && (status != 0 || !is_counted(said)))
            note_bad(bad, sizeof(bad), kinds[_i].name, status, said);
        next = last < next ? MOST : again ? last : last + 1;
    }
    ck_assert_msg(!bad[0], "%s", bad);
}
END_TEST

static void build(Suite *suite)
{
    TCase *tcase = tcase_create("orders of death");
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 0);
    add_loop_tests(tcase, KINDS, each_order);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv, "death", build, children);
}
