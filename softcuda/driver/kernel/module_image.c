/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Loads a module's image as a shared object. Each load gets its own file in memory: in CUDA, two
 * loads of a module have separate globals, but the dynamic loader would share them.
 */
#include "softcuda/driver/kernel/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softcuda/driver/memory/memfd.h"

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#else
#error "the software CUDA driver supports x86-64 and AArch64 only"
#endif

#define CUDA_MACHINE 190 /* the e_machine of a cubin */

/*
 * The first bytes of a fat binary, and of the record with which the host code of nvcc refers to it.
 */
#define FATBIN_MAGIC         "\x50\xed\x55\xba"
#define FATBIN_WRAPPER_MAGIC "\xb1\x43\x62\x46"

static CUresult refuse_gpu_image(const char *name, const char *what)
{
    soft_log(
        SOFT_WARN,
        "%s is %s, which only a GPU can run. For this driver, add #include <grinterop/cuhost.h> to "
        "the .cu file and compile it by: g++ -x c++ -std=c++17 -O2 -fPIC -shared "
        "-I$CUDA/include FILE.cu -o FILE.so",
        name, what);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Whether the text is PTX: its first directive, after comments, is .version. */
static bool is_ptx(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        const char *end = NULL;
        if (strncmp(text, "//", 2) == 0)
            end = strchr(text, '\n');
        else if (strncmp(text, "/*", 2) == 0)
            end = strstr(text + 2, "*/");
        else
            return strncmp(text, ".version", 8) == 0;
        if (!end)
            return false;
        text = end + (*end == '*' ? 2 : 1);
    }
}

static CUresult check_header(const ElfW(Ehdr) * header, const char *name)
{
    if (header->e_machine == CUDA_MACHINE)
        return refuse_gpu_image(name, "a cubin");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != HOST_MACHINE ||
        header->e_type != ET_DYN || header->e_phentsize != sizeof(ElfW(Phdr))) {
        soft_log(SOFT_WARN, "%s is an ELF file, but not a shared object for this machine", name);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    return CUDA_SUCCESS;
}

/*
 * Identifies the kind of image. `name` is for messages. strncmp() compares the magic numbers,
 * because a text image may be shorter than they are.
 */
static CUresult check_image(const void *image, const char *name)
{
    if (strncmp(image, ELFMAG, SELFMAG) == 0) {
        ElfW(Ehdr) header;
        memcpy(&header, image, sizeof(header));
        return check_header(&header, name);
    }
    if (strncmp(image, FATBIN_MAGIC, 4) == 0 || strncmp(image, FATBIN_WRAPPER_MAGIC, 4) == 0)
        return refuse_gpu_image(name, "a fat binary");
    if (is_ptx(image))
        return refuse_gpu_image(name, "PTX");
    soft_log(SOFT_WARN, "%s is neither a shared object nor a form of GPU code", name);
    return CUDA_ERROR_INVALID_IMAGE;
}

/* Extends *size to the end of a part of the file. False if the part ends beyond the limit. */
static bool grow(size_t *size, size_t limit, uint64_t offset, uint64_t bytes)
{
    if (offset > limit || bytes > limit - offset)
        return false;
    if (offset + bytes > *size)
        *size = (size_t)(offset + bytes);
    return true;
}

/*
 * The end of the last part of the file; 0 if it is beyond the limit. Linkers write the section
 * headers last, but a file may have been cut off before them.
 */
static size_t image_size(const unsigned char *image, size_t limit)
{
    ElfW(Ehdr) header;
    memcpy(&header, image, sizeof(header));
    size_t size = sizeof(header);
    if (!grow(&size, limit, header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize))
        return 0;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, image + header.e_phoff + i * sizeof(segment), sizeof(segment));
        if (!grow(&size, limit, segment.p_offset, segment.p_filesz))
            return 0;
    }
    if (header.e_shoff != 0 &&
        !grow(&size, limit, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize))
        return 0;
    return size;
}

/*
 * Writes a path that leads to the descriptor and differs from the paths of all earlier calls: the
 * bits of a counter become "/" and "/.". Descriptor numbers are reused. For a path that the loader
 * has loaded before, it would return the old object, even if the path leads to another file by now.
 */
static void unique_path(int fd, char *path, size_t size)
{
    static _Atomic unsigned loads;
    unsigned bits = atomic_fetch_add(&loads, 1) + 1;
    char spelling[80] = "";
    for (; bits != 0; bits >>= 1)
        strcat(spelling, bits & 1 ? "/." : "/");
    snprintf(path, size, "/proc/self/fd%s/%d", spelling, fd);
}

static CUresult open_descriptor(int fd, const char *name, void **object)
{
    char path[128];
    unique_path(fd, path, sizeof(path));
    *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*object)
        return CUDA_SUCCESS;
    const char *reason = dlerror();
    soft_log(SOFT_WARN,
             "%s cannot be loaded: %s (an undefined symbol may be an extern __shared__ array "
             "without its GR_SHARED line)",
             name, reason ? reason : "unknown reason");
    return CUDA_ERROR_INVALID_IMAGE;
}

static CUresult open_copy(const void *image, size_t size, const char *name, void **object)
{
    int fd = memfd_create("libgrinterop-softcuda-module", MFD_CLOEXEC);
    SOFT_FAIL_IF(fd < 0, CUDA_ERROR_OPERATING_SYSTEM);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (soft_file_write(fd, image, size, 0))
        result = open_descriptor(fd, name, object);
    close(fd);
    return result;
}

CUresult soft_image_open(const void *image, void **object)
{
    SOFT_TRY(check_image(image, "the image"));
    size_t size = image_size(image, PTRDIFF_MAX);
    return size == 0 ? CUDA_ERROR_INVALID_IMAGE : open_copy(image, size, "the image", object);
}

/*
 * Reads the whole file and appends a 0, because the image may be searched as text. NULL with errno
 * set on failure.
 */
static unsigned char *read_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct stat status;
    unsigned char *bytes = NULL;
    if (fstat(fd, &status) == 0 &&
        (bytes = calloc(1, (size_t)status.st_size + sizeof(ElfW(Ehdr))))) {
        *size = 0;
        ssize_t n;
        while (*size < (size_t)status.st_size &&
               (n = read(fd, bytes + *size, (size_t)status.st_size - *size)) > 0)
            *size += (size_t)n;
    }
    close(fd);
    return bytes;
}

CUresult soft_image_open_file(const char *path, void **object)
{
    size_t size = 0;
    SOFT_FAIL_IF(!*path, CUDA_ERROR_INVALID_VALUE);
    unsigned char *bytes = read_file(path, &size);
    if (!bytes)
        return errno == ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_FILE_NOT_FOUND;
    CUresult result = check_image(bytes, path);
    if (result == CUDA_SUCCESS && image_size(bytes, size) == 0) {
        soft_log(SOFT_WARN, "%s is cut off", path);
        result = CUDA_ERROR_INVALID_IMAGE;
    }
    if (result == CUDA_SUCCESS)
        result = open_copy(bytes, size, path, object);
    free(bytes);
    return result;
}
