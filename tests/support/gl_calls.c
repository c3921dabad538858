/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * See gl_calls.h. The functions of libepoxy are pointers, of which each gets code of its own that
 * counts and then jumps to the function. Until its first call such a pointer refers to a resolver
 * in libepoxy, which must stay: functions are counted that the process has called before.
 */
#define _GNU_SOURCE
#include "gl_calls.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__)

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#define MOST 8192 /* OpenGL and OpenGL ES have about 3000 functions */

/* mov r11, counter; inc qword [r11]; mov r11, function; jmp r11 */
struct __attribute__((packed)) code {
    uint16_t load_counter;
    uint64_t *counter;
    uint8_t increment[3];
    uint16_t load_function;
    void *function;
    uint8_t jump[3];
};
#define LOAD_R11 0xBB49

static struct {
    const char *name;
    void **pointer; /* of libepoxy */
    uint64_t calls;
} functions[MOST];
static size_t count;
static struct code *codes;
static const void *epoxy, *epoxy_end; /* where the code of libepoxy is */

/* Lists the pointers. The symbols end where the strings begin. */
static void list(void)
{
    const struct link_map *map = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    void *library = dlopen("libepoxy.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return;
    epoxy = (const void *)map->l_addr;
    epoxy_end = map->l_ld; /* in the data, after the code */
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    }
    for (const ElfW(Sym) *s = symbols; (const char *)s < strings && count < MOST; s++) {
        const char *name = strings + s->st_name;
        if (ELF64_ST_TYPE(s->st_info) != STT_OBJECT || strncmp(name, "epoxy_gl", 8) != 0)
            continue;
        functions[count].name = name + strlen("epoxy_");
        functions[count++].pointer = dlsym(RTLD_DEFAULT, name);
    }
}

/* dladdr() would search the symbols of the driver for each function. */
static bool is_resolved(const void *function)
{
    return function < epoxy || function >= epoxy_end;
}

bool gl_calls_start(void)
{
    if (!codes) {
        list();
        codes = mmap(NULL, MOST * sizeof(*codes), PROT_READ | PROT_WRITE | PROT_EXEC,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (!count || codes == MAP_FAILED)
        return false;
    for (size_t i = 0; i < count; i++) {
        functions[i].calls = 0;
        codes[i] = (struct code){.load_counter = LOAD_R11,
                                 .counter = &functions[i].calls,
                                 .increment = {0x49, 0xFF, 0x03},
                                 .load_function = LOAD_R11,
                                 .function = *functions[i].pointer,
                                 .jump = {0x41, 0xFF, 0xE3}};
        if (is_resolved(codes[i].function))
            *functions[i].pointer = &codes[i];
    }
    return true;
}

unsigned long gl_calls_end(void)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (*functions[i].pointer == &codes[i])
            *functions[i].pointer = codes[i].function;
        if (functions[i].calls && getenv("GR_TEST_GL_CALLS"))
            printf("%4lu %s\n", (unsigned long)functions[i].calls, functions[i].name);
        sum += functions[i].calls;
    }
    return sum;
}

#else

bool gl_calls_start(void)
{
    return false;
}

unsigned long gl_calls_end(void)
{
    return 0;
}

#endif
