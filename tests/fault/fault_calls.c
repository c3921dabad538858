/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Makes the calls of grinterop fail; see fault_calls.h. */
#define _GNU_SOURCE
#include "fault_calls_parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <epoxy/gl.h>

#define MOST_POINTS 1024
#define MOST_SITES  2048

/* ---- Points ---------------------------------------------------------------------------------- */

/* A function that grinterop calls. */
struct point {
    const char *name;
    enum call_kind kind;
    bool fails, ends, imported;
    void *real;
    void *const *variable; /* the pointer of epoxy to the function */
    const struct system_function *of_system;
    int more, less; /* the first row of `balances` in which it creates, or destroys; -1: none */
};

static struct point points[MOST_POINTS];
static size_t point_count;
static void *slots[MOST_POINTS]; /* pointers to functions, used instead of the variables of epoxy */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call_fault armed;
static struct call_hit hit;
static pthread_t armed_by;
static unsigned since_hit; /* the number of calls that could have failed since the failure */
static long places_seen;   /* the number of places seen since arming */
static struct call_balance balance;
static int pending_gl, pending_egl;
struct library_code library_code[LIBRARIES] = {{.name = "libgrinterop.so"},
                                               {.name = "libgrinterop-compat.so"}};

static struct site {
    const struct library_code *library;
    uintptr_t at; /* relative to the library */
    size_t point;
    unsigned long failed;
    long tried, seen; /* `tried`: how often the place was chosen; `seen`: its calls since arming */
} sites[MOST_SITES];
static size_t site_count;
static const struct site *last; /* the place that failed last, and the number of the failed call */
static long last_number;

extern const char fault_calls_thunks[] __attribute__((visibility("hidden")));

static const void *thunk_of(size_t index)
{
    return fault_calls_thunks + 16 * index;
}

static size_t index_of(const void *thunk)
{
    return (size_t)((const char *)thunk - fault_calls_thunks) / 16;
}

static void find_rows(struct point *point)
{
    point->more = point->less = -1;
    for (int i = CALL_BALANCES; i-- > 0;) {
        if (balances[i].more && strcmp(balances[i].more, point->name) == 0)
            point->more = i;
        if (balances[i].less && strcmp(balances[i].less, point->name) == 0)
            point->less = i;
    }
}

void *point_at(const char *name, void *real, void *const *variable)
{
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < point_count && (points[i].real != real || strcmp(points[i].name, name) != 0))
        i++;
    if (i == point_count && i < MOST_POINTS) {
        const struct system_function *of_system = variable ? NULL : system_function_of(name);
        enum call_kind kind = of_system ? of_system->kind : kind_of(name);
        points[point_count] = (struct point){
            .name = strdup(name),
            .kind = kind,
            .fails = can_it_fail(name, kind),
            .ends = ends_something(name),
            .real = real,
            .variable = variable,
            .of_system = of_system,
        };
        find_rows(&points[point_count++]);
    }
    pthread_mutex_unlock(&lock);
    return i < MOST_POINTS ? (void *)(uintptr_t)thunk_of(i) : real;
}

void *point_at_import(const char *name, void *real, void *const *variable)
{
    void *thunk = point_at(name, real, variable);
    size_t index = index_of(thunk);
    points[index].imported = true;
    slots[index] = thunk;
    return variable ? &slots[index] : thunk;
}

/* ---- A call ---------------------------------------------------------------------------------- */

static void (*_Atomic watching)(const struct call_seen *call);

void fault_calls_watch(void (*watch)(const struct call_seen *call))
{
    watching = watch;
}

/*
 * A thunk keeps the six arguments in registers at the start of what it saves, which has 28 words
 * with the return address. The other arguments follow.
 */
unsigned long call_argument(const struct call_seen *call, unsigned index)
{
    return (unsigned long)call->arguments[index < 6 ? index : index + 22];
}

static void show(const struct point *point, const long arguments[])
{
    void (*watch)(const struct call_seen *call) = watching;
    if (watch && point->kind != CALL_OTHER && point->kind != CALL_MEMORY &&
        point->kind != CALL_SYSTEM)
        watch(&(struct call_seen){point->name, point->kind, arguments});
}

/* Returns the library of grinterop that makes the call, by the return address; NULL for others. */
static const struct library_code *library_of(const void *caller)
{
    for (size_t i = 0; i < LIBRARIES; i++)
        if ((uintptr_t)caller >= library_code[i].start && (uintptr_t)caller < library_code[i].end)
            return &library_code[i];
    return NULL;
}

static struct site *site_of(const void *caller, size_t point)
{
    const struct library_code *library = library_of(caller);
    if (!library)
        library = &library_code[0];
    uintptr_t at = (uintptr_t)caller - library->base;
    for (size_t i = 0; i < site_count; i++)
        if (sites[i].at == at && sites[i].library == library && sites[i].point == point)
            return &sites[i];
    if (site_count == MOST_SITES)
        return &sites[0];
    sites[site_count] = (struct site){.library = library, .at = at, .point = point};
    return &sites[site_count++];
}

static bool may_fail(const struct point *point)
{
    return point->fails && (armed.lasts || !fails_when_lost_only(point->name));
}

static bool is_its_turn(const struct site *site)
{
    if (armed.place)
        return site->seen == 1 && ++places_seen == armed.place;
    if (armed.repeat)
        return site == last && site->seen == last_number;
    return site->tried < armed.most && site->seen == site->tried + 1;
}

static bool is_due_again(void)
{
    return armed.lasts || (armed.every && ++since_hit % armed.every == 0);
}

static bool is_due(const struct point *point, const void *caller)
{
    if (!point->fails)
        return false;
    struct site *site = site_of(caller, (size_t)(point - points));
    if (armed.kind != point->kind || !may_fail(point))
        return false;
    site->seen++;
    if (hit.function ? !is_due_again() : !is_its_turn(site))
        return false;
    if (!hit.function) {
        site->tried += !armed.repeat;
        last = site;
        last_number = site->seen;
        hit.function = point->name;
        hit.number = site->seen;
        hit.site = site->at;
        hit.code = armed.code ? armed.code : point->of_system ? point->of_system->code : 0;
        hit.elsewhere = !pthread_equal(pthread_self(), armed_by);
    }
    site->failed++;
    return true;
}

static long answer_of_system(const struct system_function *function)
{
    int code = armed.code ? armed.code : function->code;
    if (function->answer == ANSWER_ERRNO)
        return code;
    if (code)
        errno = code;
    return function->answer == ANSWER_MINUS_ONE ? -1 : 0;
}

static long failing_answer(const struct point *point, const long arguments[])
{
    switch (point->kind) {
    case CALL_CUDA:
    case CALL_VULKAN:
        return armed.code;
    case CALL_GL:
        pending_gl = armed.code;
        /* The Mesa drivers for the CPU close the descriptor of memory whose import fails. */
        if (strcmp(point->name, "glImportMemoryFdEXT") == 0)
            close((int)arguments[3]);
        return strcmp(point->name, "glClientWaitSync") == 0 ? GL_WAIT_FAILED : 0;
    case CALL_EGL:
        pending_egl = armed.code;
        return 0;
    default:
        return answer_of_system(point->of_system);
    }
}

static bool has_succeeded(const struct point *point, long result)
{
    if (point->kind == CALL_CUDA || point->kind == CALL_VULKAN)
        return (int)result == 0;
    if (strncmp(point->name, "pthread_", 8) == 0)
        return (int)result == 0;
    return result != 0 && result != -1;
}

/* fault_calls_balance() adds up the rows with the same creating function. */
static void count_more(const struct point *point, long result)
{
    if (point->more >= 0 && has_succeeded(point, result))
        balance.open[point->more]++;
}

/* Rows with the same destroying function share a count. */
static void count_less(const struct point *point, const long arguments[])
{
    if (point->less < 0)
        return;
    const unsigned thing = balances[point->less].thing;
    if (thing == NO_ARGUMENT || arguments[thing] != 0)
        balance.open[point->less]--;
}

/*
 * What the thunk does: it jumps to the function, or returns `value`, or calls the function and
 * reports the result.
 */
struct outcome {
    long how, value;
};
enum { HOW_JUMP, HOW_GIVE, HOW_LOOK };

#define NO_CODE ((long)0x7fffffff)

static void choose(const struct point *point, const void *caller, const long arguments[],
                   unsigned long *slot, struct outcome *outcome)
{
    bool due = is_due(point, caller);
    long answer = due ? failing_answer(point, arguments) : NO_CODE;
    bool realloced = strcmp(point->name, "realloc") == 0 && arguments[0] == 0;
    if (due && !point->ends) {
        *outcome = (struct outcome){HOW_GIVE, answer};
        return;
    }
    count_less(point, arguments);
    if (due || point->more >= 0 || realloced) {
        outcome->how = HOW_LOOK;
        *slot |= (unsigned long)(answer & 0xffffffff) << 32;
    }
}

/*
 * Whether grinterop makes the call, by the return address: the program may also call functions that
 * were looked up. Functions that grinterop imports are only called by grinterop, even if a tail
 * call hides the caller.
 */
static bool is_grinterops(const struct point *point, const void *caller)
{
    return point->imported || library_of(caller);
}

/*
 * Makes glGetError() and eglGetError() return the error of a call that was made to fail, before any
 * other error.
 */
static bool take_pending(const struct point *point, struct outcome *outcome)
{
    int *pending = strcmp(point->name, "glGetError") == 0    ? &pending_gl
                   : strcmp(point->name, "eglGetError") == 0 ? &pending_egl
                                                             : NULL;
    if (!pending || !*pending)
        return false;
    *outcome = (struct outcome){HOW_GIVE, *pending};
    *pending = 0;
    return true;
}

/* The thunks call these two functions by name. */
#define OF_THUNKS __attribute__((used, visibility("hidden")))
OF_THUNKS void *fault_calls_called(unsigned long *slot, const void *caller, struct outcome *outcome,
                                   const long arguments[]);
OF_THUNKS long fault_calls_returned(unsigned long slot, long result);

void *fault_calls_called(unsigned long *slot, const void *caller, struct outcome *outcome,
                         const long arguments[])
{
    const struct point *point = &points[*slot];
    void *real = point->variable ? *point->variable : point->real;
    outcome->how = HOW_JUMP;
    show(point, arguments);
    if (!is_grinterops(point, caller))
        return real;
    pthread_mutex_lock(&lock);
    bool was_hit = hit.function;
    if (!take_pending(point, outcome))
        choose(point, caller, arguments, slot, outcome);
    bool lost = hit.function && !was_hit && armed.lasts;
    void (*at_loss)(void) = lost ? armed.at_loss : NULL;
    pthread_mutex_unlock(&lock);
    if (at_loss)
        at_loss();
    return real;
}

long fault_calls_returned(unsigned long slot, long result)
{
    const struct point *point = &points[slot & 0xffffffff];
    int saved = errno;
    long code = (long)(slot >> 32);
    pthread_mutex_lock(&lock);
    if (strcmp(point->name, "realloc") == 0)
        balance.open[0] += result != 0;
    else
        count_more(point, result);
    code = code == NO_CODE ? result : (long)(int)code;
    pthread_mutex_unlock(&lock);
    errno = saved;
    return code;
}

#ifdef __x86_64__
/*
 * There is one thunk for each point, which pushes the number of the point. The stack below that
 * number is left unchanged, so that the arguments of any function pass through.
 */
__asm__(".pushsection .text\n"
        ".balign 16\n"
        ".globl fault_calls_thunks\n"
        ".hidden fault_calls_thunks\n"
        "fault_calls_thunks:\n"
        ".set fault_calls_index, 0\n"
        ".rept 1024\n"
        "    pushq $fault_calls_index\n"
        "    jmp fault_calls_common\n"
        "    .balign 16\n"
        "    .set fault_calls_index, fault_calls_index + 1\n"
        ".endr\n"
        "fault_calls_common:\n"
        "    subq $0xd0, %rsp\n"
        "    movq %rdi, 0x00(%rsp)\n"
        "    movq %rsi, 0x08(%rsp)\n"
        "    movq %rdx, 0x10(%rsp)\n"
        "    movq %rcx, 0x18(%rsp)\n"
        "    movq %r8, 0x20(%rsp)\n"
        "    movq %r9, 0x28(%rsp)\n"
        "    movq %rax, 0x30(%rsp)\n"
        "    movups %xmm0, 0x40(%rsp)\n"
        "    movups %xmm1, 0x50(%rsp)\n"
        "    movups %xmm2, 0x60(%rsp)\n"
        "    movups %xmm3, 0x70(%rsp)\n"
        "    movups %xmm4, 0x80(%rsp)\n"
        "    movups %xmm5, 0x90(%rsp)\n"
        "    movups %xmm6, 0xa0(%rsp)\n"
        "    movups %xmm7, 0xb0(%rsp)\n"
        "    leaq 0xd0(%rsp), %rdi\n"
        "    movq 0xd8(%rsp), %rsi\n"
        "    leaq 0xc0(%rsp), %rdx\n"
        "    movq %rsp, %rcx\n"
        "    call fault_calls_called\n"
        "    movq %rax, %r11\n"
        "    movq 0xc0(%rsp), %r10\n"
        "    movq 0x00(%rsp), %rdi\n"
        "    movq 0x08(%rsp), %rsi\n"
        "    movq 0x10(%rsp), %rdx\n"
        "    movq 0x18(%rsp), %rcx\n"
        "    movq 0x20(%rsp), %r8\n"
        "    movq 0x28(%rsp), %r9\n"
        "    movq 0x30(%rsp), %rax\n"
        "    movups 0x40(%rsp), %xmm0\n"
        "    movups 0x50(%rsp), %xmm1\n"
        "    movups 0x60(%rsp), %xmm2\n"
        "    movups 0x70(%rsp), %xmm3\n"
        "    movups 0x80(%rsp), %xmm4\n"
        "    movups 0x90(%rsp), %xmm5\n"
        "    movups 0xa0(%rsp), %xmm6\n"
        "    movups 0xb0(%rsp), %xmm7\n"
        "    cmpq $1, %r10\n"
        "    je 1f\n"
        "    ja 2f\n"
        "    addq $0xd8, %rsp\n"
        "    jmp *%r11\n"
        "1:  movq 0xc8(%rsp), %rax\n"
        "    addq $0xd8, %rsp\n"
        "    ret\n"
        "2:  addq $0xd0, %rsp\n"
        "    call *%r11\n"
        "    movq (%rsp), %rdi\n"
        "    movq %rax, %rsi\n"
        "    call fault_calls_returned\n"
        "    addq $8, %rsp\n"
        "    ret\n"
        ".popsection\n");
#else
const char fault_calls_thunks[1];
#endif

/* ---- Interface for tests --------------------------------------------------------------------- */

void fault_calls_begin(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < site_count; i++)
        sites[i].tried = 0;
    pthread_mutex_unlock(&lock);
}

void fault_calls_arm(const struct call_fault *fault)
{
    pthread_mutex_lock(&lock);
    armed = *fault;
    armed_by = pthread_self();
    hit = (struct call_hit){0};
    since_hit = 0;
    places_seen = 0;
    for (size_t i = 0; i < site_count; i++)
        sites[i].seen = 0;
    pending_gl = pending_egl = 0;
    pthread_mutex_unlock(&lock);
}

struct call_hit fault_calls_disarm(void)
{
    pthread_mutex_lock(&lock);
    struct call_hit got = hit;
    armed = (struct call_fault){0};
    pending_gl = pending_egl = 0;
    pthread_mutex_unlock(&lock);
    return got;
}

/* Whether this row and the previous one share a count. */
static bool is_more_of_the_same(size_t i)
{
    return balances[i].less && (strcmp(balances[i].less, balances[i - 1].less) == 0 ||
                                strcmp(balances[i].more, balances[i - 1].more) == 0);
}

/* Successive rows with the same creating or the same destroying function share a count. */
struct call_balance fault_calls_balance(void)
{
    pthread_mutex_lock(&lock);
    struct call_balance now = balance;
    pthread_mutex_unlock(&lock);
    for (size_t i = CALL_BALANCES; i-- > 1;)
        if (is_more_of_the_same(i)) {
            now.open[i - 1] += now.open[i];
            now.open[i] = 0;
        }
    return now;
}

const char *fault_calls_balance_name(size_t index)
{
    return index < CALL_BALANCES ? balances[index].more : NULL;
}

struct call_sites fault_calls_sites(enum call_kind kind)
{
    struct call_sites count = {0};
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < site_count; i++)
        if (points[sites[i].point].kind == kind) {
            count.seen++;
            count.failed += sites[i].failed > 0;
        }
    pthread_mutex_unlock(&lock);
    return count;
}

bool fault_calls_write_sites(const char *path)
{
    /* The buffer is large enough for one write(): several programs may append to the file. */
    static char room[1 << 17];
    FILE *file = fopen(path, "a");
    if (!file)
        return false;
    setvbuf(file, room, _IOFBF, sizeof(room));
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < site_count; i++)
        fprintf(file, "0x%lx %lu %s %s\n", (unsigned long)sites[i].at - 1, sites[i].failed,
                points[sites[i].point].name, sites[i].library->name);
    pthread_mutex_unlock(&lock);
    return fclose(file) == 0;
}
