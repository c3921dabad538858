/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What MSVC's msvcrt.lib and vcruntime.lib add to each program and DLL, as far as the tests need
 * it: the entry points, constructors, exit handlers of a DLL, and thread-local variables. Only for
 * .ci/run, which has no MSVC.
 */
#include <stdlib.h>

#include <windows.h>

typedef void (*handler)(void);
typedef int (*exit_handler)(void);
struct exit_table {
    void *first, *last, *end;
};

int _initialize_onexit_table(struct exit_table *table);
int _register_onexit_function(struct exit_table *table, exit_handler function);
int _execute_onexit_table(struct exit_table *table);
int _crt_atexit(handler function);
int _configure_narrow_argv(int mode);
int _initialize_narrow_environment(void);
int *__p___argc(void);
char ***__p___argv(void);

int _fltused = 0x9875;

/* The linker sorts the parts of a section by what follows the dollar sign. */
#define PART(name) __declspec(allocate(name))
#pragma section(".CRT$XCA", long, read)
#pragma section(".CRT$XCZ", long, read)
#pragma section(".CRT$XLA", long, read)
#pragma section(".CRT$XLZ", long, read)
#pragma section(".tls", long, read, write)
#pragma section(".tls$ZZZ", long, read, write)
static PART(".CRT$XCA") const handler first_constructor = NULL;
static PART(".CRT$XCZ") const handler last_constructor = NULL;
static PART(".CRT$XLA") const PIMAGE_TLS_CALLBACK first_callback = NULL;
static PART(".CRT$XLZ") const PIMAGE_TLS_CALLBACK last_callback = NULL;
static PART(".tls") char first_of_thread = 0;
static PART(".tls$ZZZ") char last_of_thread = 0;

ULONG _tls_index;
const IMAGE_TLS_DIRECTORY64 _tls_used = {
    .StartAddressOfRawData = (ULONGLONG)&first_of_thread,
    .EndAddressOfRawData = (ULONGLONG)&last_of_thread,
    .AddressOfIndex = (ULONGLONG)&_tls_index,
    .AddressOfCallBacks = (ULONGLONG)(&first_callback + 1),
};

static void construct(void)
{
    (void)last_callback;
    for (const volatile handler *each = &first_constructor; each < &last_constructor; each++)
        if (*each)
            (*each)();
}

#ifdef GR_START_dll

static struct exit_table table;

int atexit(handler function)
{
    return _register_onexit_function(&table, (exit_handler)function);
}

BOOL WINAPI _DllMainCRTStartup(HINSTANCE self, DWORD reason, void *reserved);
BOOL WINAPI _DllMainCRTStartup(HINSTANCE self, DWORD reason, void *reserved)
{
    (void)self;
    (void)reserved;
    if (reason == DLL_PROCESS_ATTACH) {
        _initialize_onexit_table(&table);
        construct();
    } else if (reason == DLL_PROCESS_DETACH) {
        _execute_onexit_table(&table);
    }
    return TRUE;
}

#else

int main(int argc, char **argv);

int atexit(handler function)
{
    return _crt_atexit(function);
}

void mainCRTStartup(void);
void mainCRTStartup(void)
{
    _configure_narrow_argv(1);
    _initialize_narrow_environment();
    construct();
    exit(main(*__p___argc(), *__p___argv()));
}

#endif
