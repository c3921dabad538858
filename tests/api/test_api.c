/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes the call of each row of functions.def in wrong ways: with NULL in each pointer alone, with
 * a freed, released or closed object, with no object or one of another kind, without the OpenGL
 * context, on a capturing stream, in the child of a fork, or with a driver whose calls fail one by
 * one. Each must be refused, with the class and the words of that mistake, and change nothing that
 * a query tells; then the valid call must succeed with the same objects. Freed objects must not be
 * read, which AddressSanitizer would detect.
 */
#include "objects.h"
#include "tests/drivers/fault_driver.h"
#include "tests/fault/fault_calls.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epoxy/egl.h>

/* ---- The rows -------------------------------------------------------------------------------- */

static int null_pointer; /* the number of the NEED() that is NULL now, or 0 */
#define NEED(number, pointer) (null_pointer == (number) ? NULL : (pointer))
#define may                   at
#define open                  at

static unsigned number;
static int device;
static CUuuid uuid;
static uint32_t count;
static unsigned char memory[SIZE];
static void *exported, *table;
static VkPhysicalDevice physical;
static VkSubmitInfo2 filled;
static VkSubmitInfo filled_v1;
static const VkCommandBuffer commands = (void *)memory; /* no call gets as far as to use it */
static gr_vk_device_desc device_desc;
static const gr_vk_use use = {.struct_size = sizeof(use),
                              .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
static const int64_t shape[] = {SIZE};
static const gr_tensor_desc bytes = {
    .struct_size = sizeof(bytes), .dtype = GR_DTYPE_U8, .ndim = 1, .shape = shape};
static const gr_linear_desc host = {.struct_size = sizeof(host), .host = memory};
static const gr_gl_image_desc picture = {.struct_size = sizeof(picture),
                                         .target = GL_TEXTURE_2D,
                                         .internal_format = GL_RGBA8,
                                         .width = 8,
                                         .height = 8};
static const VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                               .size = SIZE,
                                               .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
static const VkImageCreateInfo image_info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};

static const gr_semaphore_point *point(gr_semaphore *semaphore)
{
    static gr_semaphore_point point;
    point = GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 1);
    return &point;
}

static void fill(void *made, gr_cuda_find_fn find)
{
    ck_assert(made == memory && find);
}

#define FUNCTION(name, result, arguments)                                                          \
    static void call_##name(void)                                                                  \
    {                                                                                              \
        result name arguments;                                                                     \
    }
#include "functions.def"

struct row {
    const char *function, *call;
    void (*run)(void);
    bool opengl, stream_of_map, ends, in_child;
    const char *untried;
};

/* clang-format off: a row ends where the next begins, after the macros behind it. */
#define OPENGL          .opengl = true,
#define ENDS            .ends = true,
#define STREAM_OF_MAP   .stream_of_map = true,
#define IN_CHILD        .in_child = true,
#define UNTRIED(reason) .untried = (reason),
#define FUNCTION(name, ...)                                                                        \
    }                                                                                              \
    ,                                                                                              \
    {                                                                                              \
        .function = #name, .call = #__VA_ARGS__, .run = call_##name,
static const struct row rows[] = {{
    .function = "",
#include "functions.def"
}};
/* clang-format on */

static const struct object {
    const char *name;
    size_t offset;
    enum kind kind;
} objects[] = {
#define OBJECT(type, name, kind) {#name, offsetof(struct objects, name), kind},
    OBJECTS(OBJECT)};

#define EACH_ROW(r)                                                                                \
    for (const struct row *r = rows + 1; r < rows + sizeof(rows) / sizeof(*rows); r++)
#define EACH_OBJECT(o) for (const struct object *o = objects; o < objects + OBJECT_COUNT; o++)
#define OBJECT_COUNT   (sizeof(objects) / sizeof(*objects))

/* Makes an object. */
static void *make(const struct object *object)
{
#define MAKE(type, name, kind)                                                                     \
    if (object->offset == offsetof(struct objects, name))                                          \
        return make_##name();
    OBJECTS(MAKE)
    return NULL;
}

static void *get(const struct objects *from, const struct object *object)
{
    void *value;
    memcpy(&value, (const char *)from + object->offset, sizeof(value));
    return value;
}

static void put(struct objects *to, const struct object *object, void *value)
{
    memcpy((char *)to + object->offset, &value, sizeof(value));
}

/* Whether the row names the object, as "at.NAME" with one of the three words. */
static bool names(const struct row *row, const char *word, const struct object *object)
{
    char text[32];
    const size_t length = (size_t)snprintf(text, sizeof(text), "%s.%s", word, object->name);
    const char *found = strstr(row->call, text);
    return found && strchr(",)", found[length]);
}

static bool uses(const struct row *row, const struct object *object)
{
    return names(row, "at", object) || names(row, "may", object) || names(row, "open", object);
}

static bool is_missing(const struct row *row)
{
    return vk.missing && (strstr(row->call, "vk") || strstr(row->call, "semaphore") ||
                          strstr(row->call, "submit"));
}

static unsigned times(const char *text, const char *part)
{
    unsigned n = 0;
    while ((text = strstr(text, part))) {
        text += strlen(part);
        n++;
    }
    return n;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static unsigned calls, failures;
static gr_error error;       /* of the last call, on whatever thread it was */
static bool on_a_thread;     /* refuse() makes the call on a thread without contexts */
static gr_tensor *of_memory; /* an object for calls that need another kind */
static char reports[3000];   /* of the first failures; Check cannot handle longer messages */

static void report(const struct row *row, const char *how)
{
    const size_t used = strlen(reports);
    snprintf(reports + used, sizeof(reports) - used, "\n  %s: %s: %s: %s: %s", row->function,
             row->call, how, gr_status_name(error.status), error.message);
    failures++;
}

/* A message about NULL may also say that there is no object. */
static bool says(const char *words)
{
    return strstr(error.message, words) ||
           (strcmp(words, "NULL") == 0 && strstr(error.message, "There is no"));
}

/* What the queries tell about the objects of the row, and the type of info of each byte. */
struct state {
    size_t size;
    unsigned char bytes[4096];
    const char *types[4096];
};

static void note(struct state *state, const void *info, const char *type, size_t begin, size_t end)
{
    ck_assert_ptr_nonnull(info);
    ck_assert_uint_le(state->size + end - begin, sizeof(state->bytes));
    memcpy(state->bytes + state->size, (const char *)info + begin, end - begin);
    for (; begin < end; begin++)
        state->types[state->size++] = type;
}

/* Notes the fields of a `type` from `first` to `last`, which have no padding between them. */
#define NOTE(info, type, first, last)                                                              \
    note(&state, info, #type " between " #first " and " #last, offsetof(type, first),              \
         offsetof(type, last) + sizeof(((type *)0)->last))

/* The fields that the queries return. The padding between them differs from call to call. */
static struct state look(const struct row *row, const struct object *except)
{
    struct state state = {0};
    EACH_OBJECT(o)
    {
        void *object = get(&at, o);
        if (!uses(row, o) || o == except)
            continue;
        if (o->kind == RESOURCE) {
            const gr_resource_info *info = gr_resource_get_info(object);
            NOTE(info, gr_resource_info, kind, closed);
            NOTE(info, gr_resource_info, graphics, external_memory);
        }
        if (o->kind == BUFFER) {
            const gr_buffer_info *info = gr_buffer_get_info(object);
            NOTE(info, gr_buffer_info, stream, tensors);
            NOTE(info, gr_buffer_info, context, context);
        }
        if (o->kind == TENSOR) {
            const gr_tensor_info *info = gr_tensor_get_info(object);
            NOTE(info, gr_tensor_info, ptr, read_only);
            NOTE(info, gr_tensor_info, bytes, revoked);
            NOTE(info, gr_tensor_info, array, context);
        }
        if (o->kind == RING)
            NOTE(gr_ring_get_info(object), gr_ring_info, written, reading);
        if (o->kind == SEMAPHORE)
            NOTE(gr_semaphore_get_info(object), gr_semaphore_info, external, timeline);
    }
    return state;
}

/* How often the driver was given work or an object of OpenGL. */
static unsigned long driver_calls(void)
{
    static const char *const names[] = {
        "cuGraphicsGLRegisterBuffer",
        "cuGraphicsGLRegisterImage",
        "cuGraphicsUnregisterResource",
        "cuGraphicsMapResources",
        "cuGraphicsUnmapResources",
        "cuEventRecord",
        "cuStreamWaitEvent",
        "cuLaunchHostFunc",
        "cuLaunchKernel",
        "cuMemcpyHtoDAsync",
        "cuMemcpyDtoHAsync",
        "cuMemcpy3DAsync",
        "cuMemcpyAsync",
        "cuMemAlloc_v2",
        "cuMemCreate",
    };
    unsigned long sum = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        sum += fault->calls(names[i]);
    return sum;
}

static void make_world(const struct row *row)
{
    memset(&at, 0, sizeof(at));
    memset(&made, 0, sizeof(made));
    EACH_OBJECT(o)
    {
        if (uses(row, o))
            put(&at, o, make(o));
    }
}

/* An object that the call ended is refused, which is no failure here. */
static void end_world(void)
{
    if (!vk.missing)
        VK(QueueWaitIdle(vk.h->graphics));
    for (size_t i = OBJECT_COUNT; i-- > 0;)
        end_object(objects[i].kind, get(&made, &objects[i]));
    for (size_t i = OBJECT_COUNT; i-- > 0;)
        end_object(objects[i].kind, get(&at, &objects[i]));
    end_hidden(0);
    gr_clear_error();
}

static void *call(void *row)
{
    gr_clear_error();
    ((const struct row *)row)->run();
    error = *gr_last_error();
    return NULL;
}

/* Reports the first byte that the queries no longer tell as `before`. */
static void report_change(const struct row *row, const struct object *except,
                          const struct state *before)
{
    const struct state after = look(row, except);
    size_t i = 0;
    char text[200];
    ck_assert_uint_eq(before->size, after.size);
    while (i < after.size && before->bytes[i] == after.bytes[i])
        i++;
    if (i == after.size)
        return;
    snprintf(text, sizeof(text), "changed %s: %u, now %u", before->types[i], before->bytes[i],
             after.bytes[i]);
    report(row, text);
}

/* The call must be refused, and change no object but perhaps the wrong one. */
static void refuse(const struct row *row, const struct object *wrong, const char *how,
                   gr_status status, const char *words)
{
    const struct state before = look(row, wrong);
    const unsigned long calls_before = driver_calls();
    calls++;
    if (on_a_thread)
        elsewhere(call, (void *)row);
    else
        call((void *)row);
    if (error.status != status || !says(words))
        report(row, how);
    if (driver_calls() != calls_before)
        report(row, "called the driver");
    report_change(row, wrong, &before);
}

/* Without OpenGL, the call needs no current context. */
static void accept(const struct row *row)
{
    if (row->untried)
        return;
    calls++;
    if (row->opengl)
        call((void *)row);
    else
        elsewhere(call, (void *)row);
    if (error.status != GR_OK)
        report(row, "the valid call");
}

static void begin(void)
{
    calls = failures = 0;
    reports[0] = '\0';
    begin_arguments();
    CU(DeviceGetUuid(&uuid, fx.device));
    of_memory =
        must_make(gr_tensor_from_memory(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                                 .shape = shape, .memory = GR_MEMORY_HOST),
                                        memory, GR_STREAM_NONE, NULL, NULL));
    if (!vk.missing)
        device_desc = vulkan_desc(NULL);
}

static void assert_calls(unsigned expected)
{
    gr_tensor_free(of_memory);
    end_arguments();
    ck_assert_msg(failures == 0, "%u of %u calls:%s", failures, calls, reports);
    ck_assert_uint_eq(calls, expected);
}

GROUP("rows", add_vulkan_case)

/* The number of times that a row names objects or pointers, apart from the table of objects. */
static unsigned pointers(const struct row *row, bool also_needed)
{
    return times(row->call, "at.") + times(row->call, "may.") + times(row->call, "open.") +
           (also_needed ? times(row->call, "NEED(") : 0);
}

static void pass_null(const struct row *row, const struct object *object)
{
    void *kept = get(&at, object);
    put(&at, object, NULL);
    if (names(row, "may", object)) {
        call((void *)row);
        calls++;
        if (error.status != GR_OK)
            report(row, "NULL");
        if (object->kind == EGL)
            assert_ok(gr_egl_make_current(fx.egl));
    } else
        refuse(row, object, object->name, GR_ERR_INVALID_VALUE, "NULL");
    put(&at, object, kept);
}

TEST(null_is_refused_in_each_pointer_alone)
{
    unsigned expected = 0;
    begin();
    EACH_ROW(r)
    {
        if (is_missing(r) || pointers(r, true) == 0)
            continue;
        expected += pointers(r, true);
        make_world(r);
        EACH_OBJECT(o)
        {
            if (uses(r, o))
                pass_null(r, o);
        }
        for (null_pointer = 1; null_pointer <= (int)times(r->call, "NEED("); null_pointer++)
            refuse(r, NULL, "NEED", GR_ERR_INVALID_VALUE, "NULL");
        null_pointer = 0;
        end_world();
    }
    assert_calls(expected);
}

/* The live object exists meanwhile, so that the ended one cannot have its address. */
static void pass_ended(const struct row *row, const struct object *object)
{
    const gr_slot *slot = slots[0];
    const size_t hidden = hidden_count;
    void *kept = get(&at, object), *ended = make(object);
    slots[0] = slot;
    put(&at, object, ended);
    if (object->kind == BUFFER) {
        assert_ok(gr_buffer_release(ended));
        refuse(row, object, "released", GR_ERR_INVALID_VALUE, "released already");
    }
    if (names(row, "open", object)) {
        assert_ok(gr_resource_close(ended, fx.stream));
        refuse(row, object, "closed", GR_ERR_STATE, "closed");
    }
    if (object->kind != BUFFER)
        end_object(object->kind, ended);
    end_hidden(hidden);
    assert_ok(gr_egl_make_current(fx.egl));
    refuse(row, object, "freed", GR_ERR_INVALID_VALUE, "not a live");
    if (!strstr(error.message, row->function))
        report(row, "the message does not name the function");
    put(&at, object, kept);
}

/* Runs `test` for each object of each row. Returns how many it should have run for. */
static unsigned each_object(void (*test)(const struct row *, const struct object *))
{
    unsigned expected = 0;
    begin();
    EACH_ROW(r)
    {
        if (is_missing(r) || pointers(r, false) == 0)
            continue;
        expected += pointers(r, false) - times(r->call, "at.stream");
        make_world(r);
        EACH_OBJECT(o)
        {
            if (uses(r, o) && o->kind != STREAM)
                test(r, o);
        }
        end_world();
    }
    return expected;
}

/* Catches: gr_gl_name(), gr_resource_get_info() and ring calls read the memory of freed objects. */
TEST(ended_objects_are_refused)
{
    unsigned expected = each_object(pass_ended);
    EACH_ROW(r)
    {
        if (!is_missing(r))
            expected += times(r->call, "open.") + times(r->call, "at.buffer") +
                        times(r->call, "may.buffer") + times(r->call, "at.texels");
    }
    assert_calls(expected);
}

/*
 * Frees objects, and each again while a new one exists. Catches: the second free ended the new
 * object, because it had the same address.
 */
TEST(a_second_free_does_not_end_a_new_object)
{
    begin();
    EACH_OBJECT(o)
    {
        const bool is_first = o == objects || o[-1].kind != o->kind;
        const bool of_vulkan =
            (o->kind >= SEMAPHORE && o->kind <= HEADLESS) || strcmp(o->name, "drawn") == 0;
        const int most = o->kind >= DEVICE ? 3 : 16;
        void *freed[16];
        if (!is_first || (of_vulkan && vk.missing) || o->kind == BUFFER || o->kind == STREAM)
            continue;
        for (int i = 0; i < most; i++) {
            freed[i] = make(o);
            for (int k = 0; k < i; k++) {
                ck_assert_ptr_ne(freed[i], freed[k]);
                gr_clear_error();
                end_object(o->kind, freed[k]);
                assert_error(GR_ERR_INVALID_VALUE, 0, "was given");
            }
            gr_clear_error();
            end_object(o->kind, freed[i]);
            ck_assert_msg(gr_last_error()->status == GR_OK, "%s: %s", o->name, error_text());
            end_hidden(0);
        }
    }
    assert_ok(gr_egl_make_current(fx.egl));
    assert_calls(0);
}

static void pass_other_kind(const struct row *row, const struct object *object)
{
    void *kept = get(&at, object);
    put(&at, object, object->kind == EGL ? (void *)of_memory : (void *)fx.egl);
    refuse(row, object, "another kind", GR_ERR_INVALID_VALUE, ": it is a");
    put(&at, object, memory);
    refuse(row, object, "no object", GR_ERR_INVALID_VALUE, "never was one");
    put(&at, object, kept);
}

TEST(other_objects_are_refused)
{
    assert_calls(2 * each_object(pass_other_kind));
}

TEST(the_valid_calls_succeed)
{
    unsigned expected = 0;
    begin();
    EACH_ROW(r)
    {
        if (is_missing(r) || r->untried)
            continue;
        expected++;
        make_world(r);
        accept(r);
        end_world();
    }
    assert_calls(expected);
}

/* Whether the call has an object that belongs to the OpenGL context. */
static bool has_opengl_object(const struct row *row)
{
    EACH_OBJECT(o)
    {
        if (uses(row, o) && (o->kind == RESOURCE || o->kind == BUFFER || o->kind == RING))
            return true;
    }
    return false;
}

TEST(calls_without_their_opengl_context_are_refused, 2)
{
    unsigned expected = 0;
    transport = _i ? &by_copy : &by_interop;
    begin();
    gr_egl *stranger = make_egl();
    EACH_ROW(r)
    {
        if (!r->opengl)
            continue;
        make_world(r);
        assert_ok(gr_egl_make_current(NULL));
        for (int i = 0; i < 2; i++) {
            on_a_thread = i;
            refuse(r, NULL, "without a context", GR_ERR_GL, "No OpenGL context is current");
        }
        on_a_thread = false;
        expected += 2 + has_opengl_object(r) + !r->untried;
        if (has_opengl_object(r)) {
            assert_ok(gr_egl_make_current(stranger));
            refuse(r, NULL, "in another context", GR_ERR_GL, "another context");
        }
        assert_ok(gr_egl_make_current(fx.egl));
        accept(r);
        end_world();
    }
    gr_egl_free(stranger);
    assert_calls(expected);
}

/* Catches: a captured map or release repeated the wait and the signal at each launch. */
TEST(calls_on_a_capturing_stream_are_refused, 2)
{
    unsigned expected = 0;
    transport = _i ? &by_copy : &by_interop;
    begin();
    EACH_ROW(r)
    {
        if (is_missing(r) || !(strstr(r->call, "at.stream") || r->stream_of_map))
            continue;
        expected += 2 + !r->untried;
        make_world(r);
        capture_graph(fx.stream);
        refuse(r, NULL, "in a capture", GR_ERR_STATE, "is capturing a graph");
        capture_graph_relaxed(fx.stream);
        refuse(r, NULL, "in a relaxed capture", GR_ERR_STATE, "is capturing a graph");
        capture_graph(NULL);
        accept(r);
        end_world();
    }
    assert_calls(expected);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static const struct way {
    const char *name;
    enum call_kind kind;
    int code; /* 0: the error number of the function, which messages need not have */
    gr_error_domain domain;
} ways[] = {
    {"nothing fails", CALL_OTHER, 0, GR_DOMAIN_NONE},
    {"CUDA fails", CALL_CUDA, CUDA_ERROR_UNKNOWN, GR_DOMAIN_CUDA},
    {"no memory", CALL_MEMORY, 0, GR_DOMAIN_NONE},
    {"the system refuses", CALL_SYSTEM, 0, GR_DOMAIN_NONE},
    {"OpenGL fails", CALL_GL, GL_OUT_OF_MEMORY, GR_DOMAIN_OPENGL},
    {"EGL fails", CALL_EGL, EGL_BAD_ALLOC, GR_DOMAIN_EGL},
    {"Vulkan fails", CALL_VULKAN, VK_ERROR_OUT_OF_HOST_MEMORY, GR_DOMAIN_VULKAN},
};
#define WAYS (sizeof(ways) / sizeof(*ways))

static const char *no_faults; /* why calls cannot be made to fail */

/* Whether the call ends its object even if it fails. */
static bool gives_up(const struct row *row)
{
    return strstr(row->function, "_free") || strstr(row->function, "_later");
}

/* Whether the error names the fault. glClientWaitSync() has a code of its own. */
static bool names_fault(const struct way *way)
{
    return way->code == 0 || (error.domain == way->domain &&
                              (error.code == way->code || error.code == GL_WAIT_FAILED));
}

/*
 * Makes another call that the function makes fail. The function must tell about it or bear it, and
 * make no more calls that the driver of CUDA refuses than without it: `refusals`, which the first
 * way counts. If it fails, it must succeed again with the same objects, unless it says that it did
 * a part. False: all its calls have failed.
 */
static bool fail_next(const struct row *row, const struct way *way, unsigned long *refusals)
{
    const struct call_fault next = {.kind = way->kind, .code = way->code, .most = 4};
    make_world(row);
    const struct state before = look(row, NULL);
    fault->reset();
    fault_calls_arm(&next);
    call((void *)row);
    const struct call_hit hit = fault_calls_disarm();
    while (glGetError() != GL_NO_ERROR) /* of later calls, which the fault made wrong */
        continue;
    const bool makes_others = fault->all_refusals() > *refusals;
    if (way->kind == CALL_OTHER)
        *refusals = fault->all_refusals();
    if (hit.function && error.status != GR_OK && error.status != GR_ERR_PARTIAL && !gives_up(row)) {
        char how[80];
        snprintf(how, sizeof(how), "%s in call %ld of %s", way->name, hit.number, hit.function);
        calls++;
        if (!names_fault(way) || makes_others)
            report(row, how);
        report_change(row, NULL, &before);
        call((void *)row);
        if (error.status != GR_OK)
            report(row, how);
    }
    assert_ok(gr_egl_make_current(fx.egl));
    end_world();
    return hit.function;
}

/* On the software driver 212 and 267, of which Vulkan needs 48; other drivers make other calls. */
#define FEWEST_FAULTS 100

GROUP("faults", add_vulkan_case)
TAG("alone")

TEST_UNLESS(no_faults, a_call_succeeds_after_any_fault, 2)
{
    transport = _i ? &by_copy : &by_interop;
    begin();
    EACH_ROW(r)
    {
        if (is_missing(r) || r->untried)
            continue;
        unsigned long refusals = 0;
        for (const struct way *way = ways; way < ways + WAYS; way++) {
            fault_calls_begin();
            while (fail_next(r, way, &refusals))
                continue;
        }
    }
    ck_assert_uint_ge(calls, FEWEST_FAULTS);
    assert_calls(calls);
}

GROUP("rows", add_vulkan_case)

/* ---- In the child of fork() ------------------------------------------------------------------ */

/* Check belongs to the parent, so the child only exits. */
static void call_in_child(const struct row *row)
{
    int status = -1;
    calls++;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        failures = 0;
        reports[0] = '\0';
        call((void *)row);
        const gr_status right = row->in_child ? GR_OK : GR_ERR_STATE;
        if (error.status != right || !says(row->in_child ? "" : "was forked"))
            report(row, "in the child");
        fputs(reports, stdout);
        fflush(stdout);
        _exit((int)failures);
    }
    ck_assert(child > 0 && waitpid(child, &status, 0) == child);
    error = (gr_error){.status = GR_OK, .message = ""}; /* that of the child is not here */
    if (status != 0)
        report(row, "in the child, which has printed its error");
}

TEST(calls_are_refused_in_the_child_of_a_fork)
{
    unsigned expected = 0;
    begin();
    EACH_ROW(r)
    {
        if (is_missing(r))
            continue;
        expected += 1 + !r->untried;
        make_world(r);
        call_in_child(r);
        accept(r);
        assert_ok(gr_egl_make_current(fx.egl));
        end_world();
    }
    assert_calls(expected);
}

/* Whether an object of the call belongs to a CUDA context; semaphores may belong to the host. */
static bool has_context(const struct row *row)
{
    return has_opengl_object(row) || strstr(row->call, "at.tensor");
}

/*
 * The stream ends with the CUDA context of the objects.
 *
 * Catches: the driver of NVIDIA crashed in cuStreamIsCapturing.
 */
TEST(streams_of_a_destroyed_context_are_refused, 2)
{
    unsigned expected = 0;
    const CUstream kept = fx.stream;
    transport = _i ? &by_copy : &by_interop;
    begin();
    EACH_ROW(r)
    {
        if (is_missing(r) || r->ends || !strstr(r->call, "at.stream") || !has_context(r))
            continue;
        expected++;
        CUcontext context = new_context(&fx.stream);
        make_world(r);
        CU(StreamSynchronize(fx.stream));
        end_context(context);
        fault->reset();
        refuse(r, NULL, "after the context", GR_ERR_CUDA, "was destroyed");
        if (fault->calls("cuStreamIsCapturing") + fault->calls("cuStreamGetCtx") != 0)
            report(r, "passed the stream to the driver");
        if (at.buffer || at.texels) {
            expected++;
            at.stream = GR_STREAM_OF_MAP;
            refuse(r, NULL, "after the context", GR_ERR_CUDA, "was destroyed");
        }
        end_world();
        fx.stream = kept;
    }
    assert_calls(expected);
}

/* The same where the CPU copies, and where graphics writes. */
TEST(a_destroyed_context_is_refused_without_a_stream_of_it)
{
    const CUstream kept = fx.stream;
    CUcontext context = new_context(&fx.stream);
    const gr_slot *slot;
    GR_AUTO(gr_resource) *discards = must_register_as(gl_buffer_filled(SIZE, 0), GR_WRITE_DISCARD);
    GR_AUTO(gr_tensor) *tensor = make_tensor();
    gr_ring *ring = make_ready();
    CU(StreamSynchronize(fx.stream));
    end_context(context);
    assert_fails(gr_publish(discards, tensor, NULL, fx.stream), GR_ERR_CUDA,
                 CUDA_ERROR_CONTEXT_IS_DESTROYED, "was destroyed");
    assert_fails(gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, 0), GR_ERR_CUDA,
                 CUDA_ERROR_CONTEXT_IS_DESTROYED, "was destroyed");
    ck_assert_uint_eq(gr_ring_get_info(ring)->ready, 1);
    gr_ring_free(ring);
    end_hidden(0);
    fx.stream = kept;
}

#define REFUSAL(call, class, words) +1
enum {
    REFUSALS = 0
#include "refusals.def"
};
#undef REFUSAL

#define REFUSAL(invalid, class, words)                                                             \
    gr_clear_error();                                                                              \
    (void)(invalid);                                                                               \
    error = *gr_last_error();                                                                      \
    calls++;                                                                                       \
    if (error.status != GR_ERR_##class || !says(words) || driver_calls() != work)                  \
        report(&(const struct row){.function = "refusals.def", .call = #invalid},                  \
               "expected " #class ", " words);

TEST(wrong_values_are_refused)
{
    begin();
    at = (struct objects){.resource = make_resource(), .stream = fx.stream};
    const unsigned long work = driver_calls();
#include "refusals.def"
    end_world();
    assert_calls(REFUSALS);
}

/* ---- NULL and ended objects that are no argument --------------------------------------------- */

/* X(type): the end-of-scope function of the type is called with NULL in the variable. */
#define SCOPES(X)                                                                                  \
    X(gr_buffer)                                                                                   \
    X(gr_cuda_context)                                                                             \
    X(gr_egl)                                                                                      \
    X(gr_resource)                                                                                 \
    X(gr_ring)                                                                                     \
    X(gr_semaphore)                                                                                \
    X(gr_submit)                                                                                   \
    X(gr_tensor)                                                                                   \
    X(gr_vk_device)                                                                                \
    X(gr_vk_headless)

TEST(the_end_of_a_scope_ignores_null)
{
    unsigned flags = 9;
    gr_clear_error();
#define CHECK_SCOPE(type)                                                                          \
    {                                                                                              \
        type *object = NULL;                                                                       \
        type##_at_scope_end(&object);                                                              \
        ck_assert_msg(gr_last_error()->status == GR_OK, "%s: %s", #type, error_text());            \
    }
    SCOPES(CHECK_SCOPE)
    gr_error_print(NULL, NULL);
    ck_assert_ptr_nonnull(gr_status_name((gr_status)-1));
    assert_ok(gr_flags_parse(NULL, &flags));
    ck_assert_uint_eq(flags, GR_READ_WRITE);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
}

TEST_UNLESS(vk.missing, freed_objects_in_options_are_refused)
{
    transport = &by_interop;
    at = (struct objects){.resource = make_resource(),
                          .tensor = make_tensor(),
                          .source = make_source(),
                          .drawn = make_drawn(),
                          .image = make_image()};
    gr_tensor_free(at.source);
    gr_resource_free(at.drawn);
    assert_invalid(gr_publish(at.image, at.tensor,
                              &GR_INIT(gr_publish_options, .chroma = at.source), fx.stream),
                   "not a live");
    assert_invalid(gr_fetch_framebuffer(0, at.tensor,
                                        &GR_INIT(gr_framebuffer_options, .width = 1, .height = 1,
                                                 .staging = at.drawn),
                                        fx.stream),
                   "not a live");
    at.source = NULL;
    at.drawn = NULL;
    end_world();
}

static void start(void)
{
    resource_case_buffer(SIZE, 1);
    fault_control_start();
    no_faults = fault_calls_start(NULL);
}

START(start())
