/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes every call of grinterop fail once, in every public operation: the first CUDA call in a
 * scenario, then the second, and so on until no call is left to fail. It does the same for OpenGL,
 * EGL, Vulkan, memory and the system, with each code that such a call may return, and with a device
 * or context that is lost from that call on.
 *
 * After each failure the operation must have named the failed call and left no object behind, the
 * same resource must be mapped and closed, and the same scenario must succeed.
 */
#define _GNU_SOURCE
#include "fault_calls.h"
#include "fault_walk.h"
#include "tests/support/support_vulkan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <epoxy/egl.h>

#include <grinterop/tensor.h>

/* More faults than any scenario has with any entry of `ways`. */
#define MOST_FAULTS 4000

/* ---- Ways of failing ------------------------------------------------------------------------- */

static const struct way {
    const char *name;
    enum call_kind kind;
    int code;
    bool lasts;
    int most; /* how often one place fails in one scenario */
    gr_error_domain domain;
    unsigned every; /* every n-th later call fails, too */
    bool of_few;    /* also used if takes_few() */
} ways[] = {
    {"CUDA is out of memory", CALL_CUDA, CUDA_ERROR_OUT_OF_MEMORY, false, 4, GR_DOMAIN_CUDA, 0,
     true},
    {"CUDA refuses a value", CALL_CUDA, CUDA_ERROR_INVALID_VALUE, false, 1, GR_DOMAIN_CUDA, 0,
     false},
    {"CUDA reports no context", CALL_CUDA, CUDA_ERROR_INVALID_CONTEXT, false, 1, GR_DOMAIN_CUDA, 0,
     false},
    {"the CUDA context was destroyed", CALL_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED, false, 1,
     GR_DOMAIN_CUDA, 0, false},
    {"CUDA can't", CALL_CUDA, CUDA_ERROR_NOT_SUPPORTED, false, 1, GR_DOMAIN_CUDA, 0, false},
    {"CUDA reports an unknown error", CALL_CUDA, CUDA_ERROR_UNKNOWN, false, 1, GR_DOMAIN_CUDA, 0,
     false},
    {"CUDA reports a failed launch", CALL_CUDA, CUDA_ERROR_LAUNCH_FAILED, false, 1, GR_DOMAIN_CUDA,
     0, false},
    {"CUDA refuses, and then every second call", CALL_CUDA, CUDA_ERROR_UNKNOWN, false, 1,
     GR_DOMAIN_CUDA, 2, false},
    {"the CUDA context is destroyed for good", CALL_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED, true, 1,
     GR_DOMAIN_CUDA, 0, false},
    {"the CUDA device is lost", CALL_CUDA, CUDA_ERROR_ILLEGAL_ADDRESS, true, 1, GR_DOMAIN_CUDA, 0,
     true},
    {"the heap is full", CALL_MEMORY, 0, false, 4, GR_DOMAIN_NONE, 0, true},
    {"the heap is full from then on", CALL_MEMORY, 0, true, 4, GR_DOMAIN_NONE, 0, false},
    {"the system refuses", CALL_SYSTEM, 0, false, 4, GR_DOMAIN_ERRNO, 0, true},
    {"OpenGL is out of memory", CALL_GL, GL_OUT_OF_MEMORY, false, 4, GR_DOMAIN_OPENGL, 0, true},
    {"OpenGL refuses", CALL_GL, GL_INVALID_OPERATION, false, 1, GR_DOMAIN_OPENGL, 0, false},
    {"the OpenGL context is lost", CALL_GL, GL_CONTEXT_LOST, true, 1, GR_DOMAIN_OPENGL, 0, true},
    {"EGL is out of memory", CALL_EGL, EGL_BAD_ALLOC, false, 4, GR_DOMAIN_EGL, 0, true},
    {"the EGL context is lost", CALL_EGL, EGL_CONTEXT_LOST, false, 1, GR_DOMAIN_EGL, 0, false},
    {"Vulkan is out of memory", CALL_VULKAN, VK_ERROR_OUT_OF_HOST_MEMORY, false, 4,
     GR_DOMAIN_VULKAN, 0, true},
    {"Vulkan is out of device memory", CALL_VULKAN, VK_ERROR_OUT_OF_DEVICE_MEMORY, false, 1,
     GR_DOMAIN_VULKAN, 0, false},
    {"Vulkan does not start", CALL_VULKAN, VK_ERROR_INITIALIZATION_FAILED, false, 1,
     GR_DOMAIN_VULKAN, 0, false},
    {"the Vulkan device is lost", CALL_VULKAN, VK_ERROR_DEVICE_LOST, true, 1, GR_DOMAIN_VULKAN, 0,
     false},
};
#define WAYS (sizeof(ways) / sizeof(*ways))

/* ---- Counts and complaints ------------------------------------------------------------------- */

static unsigned long faults_made, faults_told, faults_borne;
static int complaints;
const struct scenario *scenario;
static const struct way *way;
static struct call_hit hit;

/* All violations are printed before the case fails, so that one run shows them. */
void complain(const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (complaints++ < 400)
        printf("%s, %s, call %ld, %s at 0x%lx: %s\n", scenario->name, way->name, hit.number,
               hit.function ? hit.function : "none", hit.site, text);
    fflush(stdout);
}

/* ---- A scenario ------------------------------------------------------------------------------ */

static struct {
    bool is_set;
    gr_error error;
    char call[64], message[960];
} first;

bool done(bool succeeded)
{
    if (succeeded || first.is_set)
        return succeeded;
    first.is_set = true;
    first.error = *gr_last_error();
    snprintf(first.call, sizeof(first.call), "%s", first.error.call ? first.error.call : "");
    snprintf(first.message, sizeof(first.message), "%s",
             first.error.message ? first.error.message : "");
    return false;
}

bool ok(gr_status status)
{
    return done(status == GR_OK);
}

bool walk_release(gr_buffer *buffer)
{
    bool good = !buffer || ok(gr_buffer_release(buffer));
    if (!good)
        gr_buffer_release_later(buffer);
    return good;
}

unsigned walk_soon;
static bool wrong_bytes, is_armed;
static unsigned long used_again;

/* A device or context that is lost fails the next call, too. */
bool walk_has_failed(void)
{
    return is_armed && first.is_set && !way->lasts && !way->every;
}

/* A semaphore that lost a signal of the host fails for good, as its message says. */
static void complain_again(const char *what)
{
    const char *message = gr_last_error()->message;
    if (!strstr(message, "and the stream went on without it"))
        complain("after %s (%s) the same resource cannot be %s: %s", first.call, first.message,
                 what, message);
}

void walk_again(gr_resource *resource)
{
    if (!resource || !walk_has_failed())
        return;
    used_again++;
    gr_buffer *buffer = gr_map(resource, fx.stream);
    if (!buffer)
        complain_again("mapped");
    else if (!walk_release(buffer))
        complain_again("released");
    else if (gr_resource_close(resource, fx.stream) != GR_OK)
        complain_again("closed");
}

bool walk_is_armed(void)
{
    return is_armed;
}

bool bytes_are(bool right)
{
    wrong_bytes = wrong_bytes || !right;
    return true;
}

/*
 * Runs the scenario. First discards OpenGL errors that earlier calls left, which would exist
 * without grinterop, too.
 */
static bool run_scenario(const struct call_fault *to_arm)
{
    first.is_set = wrong_bytes = false;
    is_armed = to_arm;
    walk_soon = is_armed ? 250 : 20000;
    gr_clear_error();
    CU(CtxSetCurrent(fx.context));
    assert_ok(gr_egl_make_current(fx.egl));
    while (glGetError() != GL_NO_ERROR)
        continue;
    if (to_arm)
        fault_calls_arm(to_arm);
    return scenario->run();
}

/* Runs without a fault. This also frees objects that the last run kept for later. */
static void run_again(void)
{
    bool good = run_scenario(NULL);
    if (!good)
        complain("the next try fails: %s: %s", first.call, first.message);
    if (wrong_bytes)
        complain("the next try has wrong bytes");
    CU(CtxSetCurrent(fx.context));
    CU(CtxSynchronize());
    gr_tensor_collect(WALK_SOON);
}

/* ---- Requirements ---------------------------------------------------------------------------- */

static gr_status class_of_fault(void)
{
    if (way->kind == CALL_CUDA && way->code == CUDA_ERROR_NOT_SUPPORTED)
        return GR_OK;
    if (first.error.code == GL_WAIT_FAILED || way->kind == CALL_EGL)
        return GR_OK;
    if (way->kind == CALL_CUDA && class_of_code(way->code) != GR_ERR_CUDA)
        return class_of_code(way->code);
    if (way->kind == CALL_MEMORY || way->code == GL_OUT_OF_MEMORY || way->code == EGL_BAD_ALLOC ||
        way->code == VK_ERROR_OUT_OF_HOST_MEMORY || way->code == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        return GR_ERR_NO_MEMORY;
    return way->lasts && way->code != CUDA_ERROR_CONTEXT_IS_DESTROYED ? GR_ERR_DEVICE_LOST : GR_OK;
}

/*
 * glClientWaitSync() reports failure with its own code. After an EGL failure all EGL devices are
 * tried, so the error lists the result of each device.
 */
static bool is_right(const gr_error *error)
{
    if (way->kind == CALL_EGL && error->status == GR_ERR_GL)
        return true;
    return error->domain == way->domain &&
           (error->code == way->code || (way->kind == CALL_GL && error->code == GL_WAIT_FAILED));
}

static void check_error(void)
{
    const gr_error *e = &first.error;
    if (!first.is_set || e->status == GR_OK)
        complain("no error is recorded");
    else if (!first.call[0] || !first.message[0])
        complain("the error has no text: '%s' '%s'", first.call, first.message);
    else if (way->domain != GR_DOMAIN_NONE && way->code && !is_right(e))
        complain("another error: %s of %s, code %d: %s", gr_status_name(e->status), first.call,
                 e->code, first.message);
    else if (class_of_fault() != GR_OK && e->status != class_of_fault() &&
             e->status != GR_ERR_PARTIAL)
        complain("wrong class: %s of %s: %s", gr_status_name(e->status), first.call, first.message);
}

struct left {
    struct call_balance balance;
    int fds;
};

/*
 * open_fds() reads the names of all descriptors, a tenth of the time of the walk. Since Linux 6.2
 * the size of the folder is the number of all open descriptors: if it is the last count, no more
 * are open that open_fds() counts.
 */
static int count_fds(void)
{
    static int last;
    struct stat status;
    if (stat("/proc/self/fd", &status) != 0 || last == 0 || status.st_size != last)
        last = open_fds();
    return last;
}

static struct left measure(void)
{
    return (struct left){fault_calls_balance(), count_fds()};
}

/*
 * Whether objects may be left over: objects of a lost device or context live until the process
 * ends, and objects that cannot be released without memory stay. The leak check must not count
 * them.
 */
static bool may_leave(void)
{
    return way->lasts || way->every || scenario->rules & WALK_GIVES_UP;
}

/* Functions of LeakSanitizer, if it is linked. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static bool run_with(const struct call_fault *fault)
{
    bool leaves = may_leave() && __lsan_disable;
    if (leaves)
        __lsan_disable();
    bool good = run_scenario(fault);
    if (leaves)
        __lsan_enable();
    return good;
}

void (*walk_give_all)(void);

/* A lost device does no more work, so this function ends the work instead. */
static void end_work(void)
{
    if (walk_give_all)
        walk_give_all();
    fx.cu->CtxSynchronize();
}

static bool takes_few(void)
{
    return scenario->rules & WALK_FEW || getenv("FAULT_WALK_FEW");
}

/* Runs the scenario with the fault and then without. */
static struct call_hit fail_once(bool repeat)
{
    const struct call_fault fault = {
        .kind = way->kind,
        .most = takes_few() ? 1 : way->most,
        .code = way->code,
        .lasts = way->lasts,
        .every = way->every,
        .repeat = repeat,
        .at_loss = way->kind == CALL_CUDA ? end_work : NULL,
    };
    if (getenv("FAULT_WALK_TRACE"))
        fprintf(stderr, "%s, %s, after %s\n", scenario->name, way->name,
                hit.function ? hit.function : "none");
    bool good = run_with(&fault);
    hit = fault_calls_disarm();
    if (hit.function) {
        faults_made++;
        faults_told += !good;
        faults_borne += good;
        if (good && wrong_bytes && !hit.elsewhere && !way->lasts)
            complain("it succeeded with wrong bytes");
        if (!good && !hit.elsewhere && first.error.status != GR_ERR_TIMEOUT)
            check_error(); /* on a busy machine a call may be late */
    } else if (!good) {
        complain("it fails without a fault: %s: %s", first.call, first.message);
    }
    struct call_hit kept = hit;
    run_again();
    return kept;
}

/* Whether objects are left over because their CUDA context cannot be made current. */
static bool is_out_of_reach(const char *function)
{
    return function &&
           (strcmp(function, "cuCtxPushCurrent") == 0 || strcmp(function, "cuCtxGetId") == 0);
}

/* The memory of GR_LIVE_KEPT freed objects of a kind stays unused; and a few more rounds. */
#define ROUNDS 70

/*
 * The number of objects that grinterop keeps must not grow with each run. Returns the number that
 * it keeps now.
 */
static struct left check_growth(struct left before)
{
    struct left after = measure();
    if (may_leave() || is_out_of_reach(hit.function))
        return after;
    for (int round = 0; round < ROUNDS; round++) {
        bool more = after.fds > before.fds;
        for (size_t i = 0; i < CALL_BALANCES; i++)
            more = more || after.balance.open[i] > before.balance.open[i];
        if (!more)
            return after;
        before = after;
        fail_once(true);
        after = measure();
    }
    if (after.fds > before.fds)
        complain("it leaves %d descriptors each time", after.fds - before.fds);
    for (size_t i = 0; i < CALL_BALANCES; i++)
        if (after.balance.open[i] > before.balance.open[i])
            complain("it leaves %ld of %s each time",
                     after.balance.open[i] - before.balance.open[i], fault_calls_balance_name(i));
    return after;
}

/* ---- The walk -------------------------------------------------------------------------------- */

static void walk_way(void)
{
    long faults = 0;
    fault_calls_begin();
    for (struct left left = measure(); faults < MOST_FAULTS; faults++) {
        const bool failed = fail_once(false).function;
        left = check_growth(left);
        if (!failed)
            return;
    }
    complain("its faults never end");
}

static bool is_asked_for(void)
{
    const char *only = getenv("FAULT_WALK_WAY");
    return (!only || strstr(way->name, only)) && (way->of_few || !takes_few());
}

static void walk(const struct scenario *list)
{
    const char *only = getenv("FAULT_WALK_ONLY");
    for (scenario = list; scenario->name; scenario++) {
        const char *missing = scenario->missing ? scenario->missing() : NULL;
        if (only && !strstr(scenario->name, only))
            continue;
        if (missing) {
            printf("not walked: %s: %s\n", scenario->name, missing);
            continue;
        }
        unsigned long before = faults_made;
        for (way = ways; way < ways + WAYS; way++)
            if (is_asked_for())
                walk_way();
        printf("%s: %lu faults\n", scenario->name, faults_made - before);
        fflush(stdout);
    }
}

static const char *no_calls;

void walk_start(const struct call_stand_in *stand_ins)
{
    no_calls = fault_calls_start(stand_ins);
}

const char *walk_no_sharing(void)
{
    const gr_transport_info *info = gr_gl_probe(GR_TRANSPORT_SHARED);
    return info && info->usable ? NULL : info ? info->reason : "the probe fails";
}

/*
 * Walks do not run on a GPU: their timeouts are short, and errors of the driver itself would
 * interfere.
 */
const char *walk_missing(void)
{
    if (no_calls)
        return no_calls;
    if (sanitizer() && strcmp(sanitizer(), "ThreadSanitizer") == 0)
        return "under ThreadSanitizer it takes minutes, and it adds no new threads";
    return gr_cuda_is_software() ? NULL : "a GPU's driver would not know of the errors";
}

const char *walk_missing_vulkan(void)
{
    return walk_missing() ? walk_missing() : vk.missing;
}

void walk_list(const struct scenario *list)
{
    complaints = 0;
    fx.fds = -1; /* objects of a lost device keep their descriptors */
    walk(list);
    ck_assert_int_eq(complaints, 0);
}

GROUP("counts", add_case)

TEST_UNLESS(walk_missing(), the_numbers_of_faults_and_places_are_printed)
{
    static const char *const names[CALL_KINDS] = {NULL,     "CUDA", "memory", "the system",
                                                  "OpenGL", "EGL",  "Vulkan"};
    printf("%lu faults: %lu calls reported them, %lu did without; %lu times the same resource was "
           "used again\n",
           faults_made, faults_told, faults_borne, used_again);
    for (int kind = CALL_CUDA; kind < CALL_KINDS; kind++) {
        struct call_sites sites = fault_calls_sites((enum call_kind)kind);
        printf("%s: %zu of %zu places that call it failed\n", names[kind], sites.failed,
               sites.seen);
    }
    const char *path = getenv("FAULT_WALK_SITES");
    if (path)
        ck_assert(fault_calls_write_sites(path));
}
