/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of grinterop's that fail, see fault_calls.h. */
#define _GNU_SOURCE
#include "fault_calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cuda.h>
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <vulkan/vulkan_core.h>

#define MOST_POINTS 1024
#define MOST_SITES  2048

/* ---- What can fail, and how ------------------------------------------------------------------ */

/* How a function of the C library says that it failed. */
enum answer { ANSWER_NULL, ANSWER_MINUS_ONE, ANSWER_ERRNO, ANSWER_ZERO };

static const struct system_function {
    const char *name;
    enum call_kind kind;
    enum answer answer;
    int code;
} system_functions[] = {
    {"calloc", CALL_MEMORY, ANSWER_NULL, ENOMEM},
    {"malloc", CALL_MEMORY, ANSWER_NULL, ENOMEM},
    {"realloc", CALL_MEMORY, ANSWER_NULL, ENOMEM},
    {"strdup", CALL_MEMORY, ANSWER_NULL, ENOMEM},
    {"__register_atfork", CALL_SYSTEM, ANSWER_ERRNO, ENOMEM},
    {"access", CALL_SYSTEM, ANSWER_MINUS_ONE, EACCES},
    {"close", CALL_SYSTEM, ANSWER_MINUS_ONE, EIO},
    {"dladdr", CALL_SYSTEM, ANSWER_ZERO, 0},
    {"dlopen", CALL_SYSTEM, ANSWER_NULL, 0},
    {"dlsym", CALL_SYSTEM, ANSWER_NULL, 0},
    {"eventfd", CALL_SYSTEM, ANSWER_MINUS_ONE, EMFILE},
    {"fcntl", CALL_SYSTEM, ANSWER_MINUS_ONE, EMFILE},
    {"fopen", CALL_SYSTEM, ANSWER_NULL, EMFILE},
    {"fread", CALL_SYSTEM, ANSWER_ZERO, EIO},
    {"fstat", CALL_SYSTEM, ANSWER_MINUS_ONE, EIO},
    {"ftruncate", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOSPC},
    {"getpeername", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOBUFS},
    {"getsockopt", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOBUFS},
    {"memfd_create", CALL_SYSTEM, ANSWER_MINUS_ONE, EMFILE},
    {"mmap", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOMEM},
    {"nanosleep", CALL_SYSTEM, ANSWER_MINUS_ONE, EINTR},
    {"opendir", CALL_SYSTEM, ANSWER_NULL, EMFILE},
    {"poll", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOMEM},
    {"pthread_cond_init", CALL_SYSTEM, ANSWER_ERRNO, ENOMEM},
    {"pthread_condattr_init", CALL_SYSTEM, ANSWER_ERRNO, ENOMEM},
    {"pthread_condattr_setclock", CALL_SYSTEM, ANSWER_ERRNO, EINVAL},
    {"pthread_create", CALL_SYSTEM, ANSWER_ERRNO, EAGAIN},
    {"pthread_mutex_init", CALL_SYSTEM, ANSWER_ERRNO, ENOMEM},
    {"read", CALL_SYSTEM, ANSWER_MINUS_ONE, EINTR},
    {"readdir", CALL_SYSTEM, ANSWER_NULL, EIO},
    {"readlink", CALL_SYSTEM, ANSWER_MINUS_ONE, ENOENT},
    {"recv", CALL_SYSTEM, ANSWER_MINUS_ONE, ECONNRESET},
    {"recvmsg", CALL_SYSTEM, ANSWER_MINUS_ONE, ECONNRESET},
    {"send", CALL_SYSTEM, ANSWER_MINUS_ONE, ECONNRESET},
    {"sendmsg", CALL_SYSTEM, ANSWER_MINUS_ONE, ECONNRESET},
    {"uname", CALL_SYSTEM, ANSWER_MINUS_ONE, EFAULT},
    {"write", CALL_SYSTEM, ANSWER_MINUS_ONE, EINTR},
};

/* What makes a thing, what ends it, and which of that one's arguments is the thing, from 0. */
#define NO_ARGUMENT 9
static const struct balance {
    const char *more, *less;
    unsigned thing;
} balances[CALL_BALANCES] = {
    {"malloc", "free", 0},
    {"calloc", "free", 0},
    {"mmap", "munmap", 0},
    {"opendir", "closedir", 0},
    {"fopen", "fclose", 0},
    {"pthread_create", "pthread_join", 0},
    {"pthread_create", "pthread_detach", 0},
    {"pthread_mutex_init", "pthread_mutex_destroy", 0},
    {"pthread_cond_init", "pthread_cond_destroy", 0},
    {"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease", NO_ARGUMENT},
    {"cuCtxPushCurrent", "cuCtxPopCurrent", NO_ARGUMENT},
    {"cuStreamCreate", "cuStreamDestroy", 0},
    {"cuEventCreate", "cuEventDestroy", 0},
    {"cuMemAlloc", "cuMemFree", 0},
    {"cuMemAllocManaged", "cuMemFree", 0},
    {"cuMemAllocHost", "cuMemFreeHost", 0},
    {"cuMemHostRegister", "cuMemHostUnregister", 0},
    {"cuMemCreate", "cuMemRelease", 0},
    {"cuMemImportFromShareableHandle", "cuMemRelease", 0},
    {"cuMemAddressReserve", "cuMemAddressFree", 0},
    {"cuMemMap", "cuMemUnmap", 0},
    {"cuMipmappedArrayCreate", "cuMipmappedArrayDestroy", 0},
    {"cuExternalMemoryGetMappedMipmappedArray", "cuMipmappedArrayDestroy", 0},
    {"cuTexObjectCreate", "cuTexObjectDestroy", 0},
    {"cuSurfObjectCreate", "cuSurfObjectDestroy", 0},
    {"cuImportExternalMemory", "cuDestroyExternalMemory", 0},
    {"cuImportExternalSemaphore", "cuDestroyExternalSemaphore", 0},
    {"cuGraphicsGLRegisterBuffer", "cuGraphicsUnregisterResource", 0},
    {"cuGraphicsGLRegisterImage", "cuGraphicsUnregisterResource", 0},
    {"cuGraphicsMapResources", "cuGraphicsUnmapResources", NO_ARGUMENT},
    {"eglCreateContext", "eglDestroyContext", 1},
    {"eglCreatePbufferSurface", "eglDestroySurface", 1},
    {"glFenceSync", "glDeleteSync", 0},
    {"vkCreateBuffer", "vkDestroyBuffer", 1},
    {"vkCreateImage", "vkDestroyImage", 1},
    {"vkAllocateMemory", "vkFreeMemory", 1},
    {"vkCreateSemaphore", "vkDestroySemaphore", 1},
    {"vkCreateCommandPool", "vkDestroyCommandPool", 1},
    {"vkCreateDevice", "vkDestroyDevice", 0},
    {"vkCreateInstance", "vkDestroyInstance", 0},
    {"vkCreateDebugUtilsMessengerEXT", "vkDestroyDebugUtilsMessengerEXT", 1},
};

/*
 * What ends something does so, and reports the error: a driver's error of earlier work, or what
 * close() says of a file.
 */
static const char *const ends[] = {"cuGraphicsUnregister",
                                   "cuMemFree",
                                   "cuMemRelease",
                                   "cuMemAddressFree",
                                   "cuMemUnmap",
                                   "cuMemHostUnregister",
                                   "cuEventDestroy",
                                   "cuStreamDestroy",
                                   "cuDestroyExternal",
                                   "cuMipmappedArrayDestroy",
                                   "cuTexObjectDestroy",
                                   "cuSurfObjectDestroy",
                                   "cuDevicePrimaryCtxRelease",
                                   "cuCtxPopCurrent",
                                   "cuModuleUnload",
                                   "close",
                                   "eglDestroy",
                                   "glDelete"};

/* What has no way to fail, or none that its caller could see. */
static const char *const never_fails[] = {"eglGetCurrent", "eglGetError",   "eglGetProcAddress",
                                          "eglQueryAPI",   "glFinish",      "glFlush",
                                          "glGetError",    "glIs",          "glHint",
                                          "glPixel",       "vkCmd",         "vkDestroy",
                                          "vkFree",        "vkGetBuffer",   "vkGetDevice",
                                          "vkGetImage",    "vkGetPhysical", "cuGetErrorString"};
/* These answer by a result, whatever their names begin with. */
static const char *const can_fail[] = {"vkGetPhysicalDeviceImageFormatProperties2"};

static bool begins(const char *name, const char *const list[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}
#define BEGINS(name, list) begins(name, list, sizeof(list) / sizeof(*(list)))

/* ---- Points ---------------------------------------------------------------------------------- */

/* A function that grinterop calls. */
struct point {
    const char *name;
    enum call_kind kind;
    bool fails, ends, imported;
    void *real;
    void *const *variable; /* epoxy's, which holds the function */
    const struct system_function *of_system;
};

static struct point points[MOST_POINTS];
static size_t point_count;
static void *slots[MOST_POINTS]; /* in the place of epoxy's variables */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call_fault armed;
static struct call_hit hit;
static pthread_t armed_by;
static unsigned since_hit; /* how many could have failed behind it */
static long places_seen;   /* since the arming */
static struct call_balance balance;
static int pending_gl, pending_egl;
static uintptr_t code_start, code_end, base;

static struct site {
    uintptr_t at;
    size_t point;
    unsigned long failed;
    long tried, seen; /* turns that it had, and calls since the arming */
} sites[MOST_SITES];
static size_t site_count;
static const struct site *last; /* that failed, and which of its calls */
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

static const struct system_function *system_function_of(const char *name)
{
    for (size_t i = 0; i < sizeof(system_functions) / sizeof(*system_functions); i++)
        if (strcmp(system_functions[i].name, name) == 0)
            return &system_functions[i];
    return NULL;
}

static enum call_kind kind_of(const char *name)
{
    if (strncmp(name, "cu", 2) == 0 || strncmp(name, "gr_softcuda", 11) == 0)
        return CALL_CUDA;
    if (strncmp(name, "egl", 3) == 0)
        return CALL_EGL;
    if (strncmp(name, "gl", 2) == 0)
        return CALL_GL;
    return strncmp(name, "vk", 2) == 0 ? CALL_VULKAN : CALL_OTHER;
}

/* The address to call in the place of the function's. */
static void *point_at(const char *name, void *real, void *const *variable)
{
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < point_count && (points[i].real != real || strcmp(points[i].name, name) != 0))
        i++;
    if (i == point_count && i < MOST_POINTS) {
        const struct system_function *of_system = variable ? NULL : system_function_of(name);
        enum call_kind kind = of_system ? of_system->kind : kind_of(name);
        points[point_count++] = (struct point){
            .name = strdup(name),
            .kind = kind,
            .fails = kind != CALL_OTHER && (BEGINS(name, can_fail) || !BEGINS(name, never_fails)),
            .ends = BEGINS(name, ends),
            .real = real,
            .variable = variable,
            .of_system = of_system,
        };
    }
    pthread_mutex_unlock(&lock);
    return i < MOST_POINTS ? (void *)(uintptr_t)thunk_of(i) : real;
}

/* ---- A call ---------------------------------------------------------------------------------- */

static struct site *site_of(const void *caller, size_t point)
{
    uintptr_t at = (uintptr_t)caller - base;
    for (size_t i = 0; i < site_count; i++)
        if (sites[i].at == at && sites[i].point == point)
            return &sites[i];
    if (site_count == MOST_SITES)
        return &sites[0];
    sites[site_count] = (struct site){.at = at, .point = point};
    return &sites[site_count++];
}

/* With the right arguments a query or a binding fails only where the context is lost. */
static bool may_fail(const struct point *point)
{
    static const char *const lost_only[] = {"glGet", "glBind", "glActiveTexture"};
    return point->fails && (armed.lasts || !BEGINS(point->name, lost_only));
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

/* Mesa's CPU drivers close the descriptor of memory that they could not import. */
static void close_as_mesa_does(const struct point *point, const long arguments[])
{
    if (strcmp(point->name, "glImportMemoryFdEXT") == 0)
        close((int)arguments[3]);
}

static long failing_answer(const struct point *point, const long arguments[])
{
    switch (point->kind) {
    case CALL_CUDA:
    case CALL_VULKAN:
        return armed.code;
    case CALL_GL:
        pending_gl = armed.code;
        close_as_mesa_does(point, arguments);
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

/* In the first of its rows: fault_calls_balance() adds them up. */
static void count_more(const struct point *point, long result)
{
    if (!has_succeeded(point, result))
        return;
    for (size_t i = 0; i < CALL_BALANCES && balances[i].more; i++) {
        if (strcmp(balances[i].more, point->name) != 0)
            continue;
        balance.open[i]++;
        return;
    }
}

/* The first of those that this function ends: they share the count. */
static void count_less(const struct point *point, const long arguments[])
{
    for (size_t i = 0; i < CALL_BALANCES && balances[i].less; i++) {
        if (strcmp(balances[i].less, point->name) != 0)
            continue;
        if (balances[i].thing == NO_ARGUMENT || arguments[balances[i].thing] != 0)
            balance.open[i]--;
        return;
    }
}

static bool makes(const struct point *point)
{
    for (size_t i = 0; i < CALL_BALANCES && balances[i].more; i++)
        if (strcmp(balances[i].more, point->name) == 0)
            return true;
    return false;
}

/* What the thunk does: it jumps to the function, gives this value, or calls it and asks again. */
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
    if (due || makes(point) || realloced) {
        outcome->how = HOW_LOOK;
        *slot |= (unsigned long)(answer & 0xffffffff) << 32;
    }
}

/*
 * What was looked up is the program's, too. What is imported is grinterop's, even where a call that
 * is a function's last returns to that one's caller.
 */
static bool is_grinterops(const struct point *point, const void *caller)
{
    return point->imported || ((uintptr_t)caller >= code_start && (uintptr_t)caller < code_end);
}

/* An error that a failed call left is told before the context's own. */
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

/* The thunks call these two by their names. */
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
 * One thunk for each point pushes its number. What is behind the number on the stack is as the
 * caller left it, so that any function's arguments pass.
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

/* ---- Look-ups -------------------------------------------------------------------------------- */

typedef CUresult(CUDAAPI *look_up_fn)(const char *, void **, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult *);
static look_up_fn look_up_cuda;
static PFN_vkGetInstanceProcAddr look_up_instance;
static PFN_vkGetDeviceProcAddr look_up_device;

static CUresult CUDAAPI find_cuda(const char *name, void **found, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status)
{
    CUresult result = look_up_cuda(name, found, version, flags, status);
    if (result == CUDA_SUCCESS && found && *found)
        *found = point_at(name, *found, NULL);
    return result;
}

static PFN_vkVoidFunction vulkan_point(const char *name, PFN_vkVoidFunction real)
{
    void *address = NULL;
    memcpy(&address, &real, sizeof(address));
    if (address)
        address = point_at(name, address, NULL);
    memcpy(&real, &address, sizeof(real));
    return real;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_device(VkDevice device, const char *name)
{
    return vulkan_point(name, look_up_device(device, name));
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_instance(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction real = look_up_instance(instance, name);
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)find_instance;
    if (strcmp(name, "vkGetDeviceProcAddr") != 0)
        return vulkan_point(name, real);
    look_up_device = (PFN_vkGetDeviceProcAddr)real;
    return (PFN_vkVoidFunction)find_device;
}

/* ISO C has no conversion between a function's address and void *. */
#define TAKE(keep, found, mine)                                                                    \
    do {                                                                                           \
        memcpy(&(keep), &(found), sizeof(found));                                                  \
        __typeof__(&(mine)) mine_ = mine;                                                          \
        memcpy(&(found), &mine_, sizeof(found));                                                   \
    } while (0)

/* In the place of dlsym(): what looks functions up is wrapped, so that all that it finds is. */
static void *find_symbol(void *file, const char *name)
{
    void *found = dlsym(file, name);
    if (!found)
        return NULL;
    if (strcmp(name, "cuGetProcAddress_v2") == 0)
        TAKE(look_up_cuda, found, find_cuda);
    else if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        TAKE(look_up_instance, found, find_instance);
    else if (strcmp(name, "gr_softcuda_semaphore_create") == 0)
        found = point_at(name, found, NULL);
    return found;
}

/* ---- grinterop's table of imports ------------------------------------------------------------ */

struct imports {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * relocations[2];
    size_t sizes[2];
};

static void *symbol_address(const char *name)
{
    void *real = dlsym(RTLD_DEFAULT, name);
    if (strcmp(name, "dlsym") == 0) {
        __typeof__(&find_symbol) mine = find_symbol;
        memcpy(&real, &mine, sizeof(real));
    }
    return real;
}

static const struct call_stand_in *stand_ins;

static void *stand_in_of(const char *name)
{
    void *address = NULL;
    for (const struct call_stand_in *one = stand_ins; one && one->name; one++)
        if (strcmp(one->name, name) == 0)
            memcpy(&address, &one->function, sizeof(address));
    return address;
}

/* NULL: it stays what it is. */
static void *import_of(const char *name)
{
    if (stand_in_of(name))
        return stand_in_of(name);
    bool is_epoxys = strncmp(name, "epoxy_gl", 8) == 0 || strncmp(name, "epoxy_egl", 9) == 0;
    void *real = symbol_address(name);
    if (!real)
        return NULL;
    if (is_epoxys && strcmp(name, "epoxy_gl_version") != 0 && strcmp(name, "epoxy_glsl_version")) {
        void *thunk = point_at(name + 6, real, real);
        points[index_of(thunk)].imported = true;
        slots[index_of(thunk)] = thunk;
        return &slots[index_of(thunk)];
    }
    bool counted = strcmp(name, "realloc") == 0;
    for (size_t i = 0; i < CALL_BALANCES && balances[i].more; i++)
        counted = counted || strcmp(name, balances[i].less) == 0;
    if (!counted && !system_function_of(name))
        return NULL;
    void *thunk = point_at(name, real, NULL);
    points[index_of(thunk)].imported = true;
    return thunk;
}

static bool is_import(const ElfW(Rela) * relocation)
{
    unsigned long type = ELF64_R_TYPE(relocation->r_info);
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static void put(void **place, void *value)
{
    long size = sysconf(_SC_PAGESIZE);
    uintptr_t page = (uintptr_t)place & ~(uintptr_t)(size - 1);
    if (mprotect((void *)page, (size_t)size, PROT_READ | PROT_WRITE) == 0)
        *place = value;
}

static void take_imports(const struct imports *imports)
{
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < imports->sizes[list] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *one = &imports->relocations[list][i];
            if (!is_import(one))
                continue;
            const ElfW(Sym) *symbol = &imports->symbols[ELF64_R_SYM(one->r_info)];
            if (symbol->st_shndx != SHN_UNDEF)
                continue;
            void *value = import_of(imports->names + symbol->st_name);
            if (value)
                put((void **)(base + one->r_offset), value);
        }
}

static struct imports read_dynamic(const ElfW(Dyn) * dynamic)
{
    struct imports imports = {0};
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        ElfW(Addr) value = dynamic->d_un.d_ptr;
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            imports.symbols = (const void *)value;
            break;
        case DT_STRTAB:
            imports.names = (const void *)value;
            break;
        case DT_RELA:
            imports.relocations[0] = (const void *)value;
            break;
        case DT_RELASZ:
            imports.sizes[0] = value;
            break;
        case DT_JMPREL:
            imports.relocations[1] = (const void *)value;
            break;
        case DT_PLTRELSZ:
            imports.sizes[1] = value;
            break;
        default:
            break;
        }
    }
    return imports;
}

static int find_grinterop(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(file, "libgrinterop.so", strlen("libgrinterop.so")) != 0)
        return 0;
    base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            code_start = base + part->p_vaddr;
            code_end = code_start + part->p_memsz;
        } else if (part->p_type == PT_DYNAMIC) {
            *(struct imports *)user = read_dynamic((const void *)(base + part->p_vaddr));
        }
    }
    return 1;
}

const char *fault_calls_start(const struct call_stand_in *list)
{
    stand_ins = list;
#ifdef __x86_64__
    struct imports imports = {0};
    dl_iterate_phdr(find_grinterop, &imports);
    if (!code_end)
        return "grinterop is linked statically: it has no table of imports";
    take_imports(&imports);
    return NULL;
#else
    return "calls are made to fail on x86-64 only";
#endif
}

/* ---- The test's side ------------------------------------------------------------------------- */

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

/* Whether what this row and the one before it count is the same. */
static bool is_more_of_the_same(size_t i)
{
    return balances[i].less && (strcmp(balances[i].less, balances[i - 1].less) == 0 ||
                                strcmp(balances[i].more, balances[i - 1].more) == 0);
}

/* Things that one function ends are counted together, and so are ends of one thing. */
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
    static char room[1 << 17]; /* all by one write(): several programs may add theirs */
    FILE *file = fopen(path, "a");
    if (!file)
        return false;
    setvbuf(file, room, _IOFBF, sizeof(room));
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < site_count; i++)
        fprintf(file, "0x%lx %lu %s\n", (unsigned long)sites[i].at - 1, sites[i].failed,
                points[sites[i].point].name);
    pthread_mutex_unlock(&lock);
    return fclose(file) == 0;
}
