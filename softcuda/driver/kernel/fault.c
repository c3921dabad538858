/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The handler of SIGSEGV and SIGBUS: prints one line about what the access did wrong, then lets the
 * previous action handle the signal. The handler uses no lock, no allocation and no stdio, because
 * the interrupted thread may be inside any of them.
 */
#include "softcuda/driver/kernel/fault.h"
#include "softcuda/driver/object_at.h"
#include "softcuda/driver/soft.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Accesses below this address are reported as accesses through NULL: Linux maps nothing there. */
#define NULL_LIMIT 65536

/* Large enough for this driver's handler and for one that the application installed before. */
#define SIGNAL_STACK_SIZE ((size_t)128 * 1024)

/* The stack that a thread of the application must have left to run kernels. */
#define LEAST_ROOM ((size_t)4 * 1024 * 1024)

_Thread_local soft_work soft_this_work;

static struct sigaction before_segv, before_bus;
static pthread_once_t handler_once = PTHREAD_ONCE_INIT;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* the signal stack of a thread of the application */

/* ---- The message ----------------------------------------------------------------------------- */

typedef struct {
    char text[512];
    size_t length;
} line;

static void append(line *l, const char *text)
{
    while (*text && l->length < sizeof(l->text))
        l->text[l->length++] = *text++;
}

static void append_number(line *l, uintptr_t number, unsigned base)
{
    char digits[32];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do
        digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    append(l, digits + at);
}

static void append_address(line *l, const void *address)
{
    append(l, "0x");
    append_number(l, (uintptr_t)address, 16);
}

/* Appends "3 bytes past the end of ...". */
static void append_place(line *l, const unsigned char *address, const unsigned char *base,
                         size_t size, const char *what)
{
    const unsigned char *end = base + size;
    if (address < base) {
        append_number(l, (uintptr_t)(base - address), 10);
        append(l, " bytes before the beginning of ");
    } else if (address >= end) {
        append_number(l, (uintptr_t)(address - end), 10);
        append(l, " bytes past the end of ");
    } else {
        append(l, "byte ");
        append_number(l, (uintptr_t)(address - base), 10);
        append(l, " of ");
    }
    append(l, what);
}

/* ---- The cause ------------------------------------------------------------------------------- */

static void append_work(line *l, const soft_work *work)
{
    append(l, work->kind ? work->kind : "the application");
    if (work->name) {
        append(l, " ");
        append(l, work->name);
    }
}

static bool is_below(const soft_stack *stack, const unsigned char *address, size_t distance)
{
    return stack->lowest && address < stack->lowest &&
           (size_t)(stack->lowest - address) <= distance;
}

static void append_stack(line *l, const soft_stack *stack)
{
    append(l, " needs more stack than the ");
    append_number(l, stack->size, 10);
    append(l,
           " bytes that a thread has: make its local arrays smaller, use memory from cuMemAlloc "
           "for them, or, if its threads use barriers, raise CU_LIMIT_STACK_SIZE by cuCtxSetLimit");
}

/* Describes an address in the guards around the shared memory of the block; false for any other. */
static bool append_shared(line *l, const soft_shared *shared, const unsigned char *address)
{
    if (!shared->base || address < shared->lowest || address >= shared->end)
        return false;
    append(l, " accessed address ");
    append_address(l, address);
    append(l, ", which is ");
    append_place(l, address, shared->base, shared->size, "its extern __shared__ memory");
    append(l, ": the launch gives it ");
    append_number(l, shared->size, 10);
    append(l, " bytes, by <<<grid, block, bytes>>> or cuLaunchKernel's sharedMemBytes");
    return true;
}

/* Describes an address in or near an object; false if there is no object near the address. */
static bool append_object(line *l, const unsigned char *address)
{
    soft_object object;
    bool live = false;
    if (!soft_pages_find(address, 0, &object)) {
        /* The object may end anywhere in its last page. */
        live = soft_range_near(address, SOFT_GUARD_SIZE + (size_t)sysconf(_SC_PAGESIZE), &object);
        if (!live && !soft_pages_find(address, SOFT_GUARD_SIZE, &object))
            return false;
    }
    append(l, " accessed address ");
    append_address(l, address);
    append(l, ", which is ");
    append_place(l, address, object.base, object.size, object.what);
    if (live) {
        append(l, " (");
        append_number(l, object.size, 10);
        append(l, " bytes at ");
        append_address(l, object.base);
        append(l, ")");
    }
    return true;
}

/*
 * Appends the cause if the address is in no object of the driver. For a non-canonical or misaligned
 * address, x86-64 does not report the address.
 */
static void append_unknown(line *l, const siginfo_t *info)
{
    if (info->si_code == SI_KERNEL && !info->si_addr) {
        append(l, " accessed a vector type (float4, ...) at an address that is not a multiple of "
                  "its alignment, or used an invalid pointer: was the pointer read from "
                  "uninitialised memory?");
        return;
    }
    append(l, " accessed address ");
    append_address(l, info->si_addr);
    if ((uintptr_t)info->si_addr < NULL_LIMIT) {
        append(l, ", which is NULL plus ");
        append_number(l, (uintptr_t)info->si_addr, 10);
        append(l, " bytes: was a parameter not set?");
    } else {
        append(l, ", which is not, or no longer, memory of this driver");
    }
}

/*
 * Prints the message, unless the application itself accessed memory that the driver does not know.
 */
static void explain(const siginfo_t *info)
{
    const soft_work *work = &soft_this_work;
    line l = {.length = 0};
    append(&l, "grinterop software CUDA driver: ");
    append_work(&l, work);
    if (work->kind && is_below(&work->stack, info->si_addr, work->stack.guard)) {
        append_stack(&l, &work->stack);
    } else if (!(work->kind && append_shared(&l, &work->shared, info->si_addr)) &&
               !append_object(&l, info->si_addr)) {
        if (!work->kind)
            return;
        if (is_below(&work->stack, info->si_addr, SOFT_LARGE_FRAME))
            append_stack(&l, &work->stack);
        else
            append_unknown(&l, info);
    }
    append(&l, "\n");
    if (write(STDERR_FILENO, l.text, l.length) < 0)
        return;
}

/* ---- The handler ----------------------------------------------------------------------------- */

/*
 * Prints the message and passes the fault to the previous handler. If there was none, the default
 * action is restored: after the return the CPU repeats the faulting instruction, which ends the
 * process. No instruction repeats a signal that another process or raise() has sent, so such a
 * signal is raised again.
 */
static void on_fault(int number, siginfo_t *info, void *machine)
{
    const struct sigaction *before = number == SIGBUS ? &before_bus : &before_segv;
    bool was_sent = info->si_code <= 0;
    if (!was_sent)
        explain(info);
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, machine);
    } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
        before->sa_handler(number);
    } else {
        sigaction(number, before, NULL);
        if (was_sent)
            raise(number);
    }
}

static void install_handler(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
}

void soft_fault_watch(void)
{
    pthread_once(&handler_once, install_handler);
}

/* ---- Threads --------------------------------------------------------------------------------- */

void soft_work_begin(const char *kind, const char *name)
{
    soft_this_work.kind = kind;
    soft_this_work.name = name;
}

void soft_work_end(void)
{
    soft_work_begin(NULL, NULL);
}

static void note_stack(soft_stack *stack)
{
    pthread_attr_t attributes;
    void *lowest;
    size_t size, guard;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &lowest, &size) == 0 &&
        pthread_attr_getguardsize(&attributes, &guard) == 0)
        *stack = (soft_stack){lowest, size, guard};
    pthread_attr_destroy(&attributes);
}

/*
 * Keeps an existing signal stack: AddressSanitizer gives each thread one, and frees the signal
 * stack that a thread has at its end.
 */
void *soft_fault_begin_thread(void)
{
    stack_t stack = {.ss_size = SIGNAL_STACK_SIZE}, before;
    soft_fault_watch();
    note_stack(&soft_this_work.stack);
    if (sigaltstack(NULL, &before) != 0 || !(before.ss_flags & SS_DISABLE))
        return NULL;
    stack.ss_sp =
        mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp == MAP_FAILED)
        return NULL;
    if (sigaltstack(&stack, NULL) != 0) {
        munmap(stack.ss_sp, stack.ss_size);
        return NULL;
    }
    return stack.ss_sp;
}

void soft_fault_end_thread(void *signal_stack)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (signal_stack && sigaltstack(&none, NULL) == 0)
        munmap(signal_stack, SIGNAL_STACK_SIZE);
}

static void make_key(void)
{
    pthread_key_create(&key, soft_fault_end_thread);
}

bool soft_fault_can_run(void)
{
    const soft_stack *stack = &soft_this_work.stack;
    if (!stack->lowest) {
        pthread_once(&key_once, make_key);
        pthread_setspecific(key, soft_fault_begin_thread());
    }
    /* A thread can also run on a stack that the application allocated. */
    const size_t room = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)stack->lowest;
    return stack->lowest && room >= LEAST_ROOM && room < stack->size;
}
