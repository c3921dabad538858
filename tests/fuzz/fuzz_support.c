/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <grinterop/external.h>

/* ---- The input ------------------------------------------------------------------------------- */

uint8_t fuzz_byte(struct fuzz_input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

uint64_t fuzz_number(struct fuzz_input *in, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)fuzz_byte(in) << 8 * i;
    return value;
}

unsigned fuzz_below(struct fuzz_input *in, unsigned n)
{
    return fuzz_byte(in) % n;
}

uint64_t fuzz_size(struct fuzz_input *in, uint64_t limit)
{
    unsigned way = fuzz_below(in, 6), power = way == 3 ? fuzz_below(in, 64) : 0;
    switch (way) {
    case 0:
        return 0;
    case 1:
        return fuzz_byte(in);
    case 2:
        return limit + (uint64_t)(int8_t)fuzz_byte(in);
    case 3:
        return ((uint64_t)1 << power) + (uint64_t)(int8_t)fuzz_byte(in);
    case 4:
        return fuzz_number(in, 2);
    default:
        return fuzz_number(in, 8);
    }
}

const unsigned char *fuzz_bytes(struct fuzz_input *in, size_t wanted, size_t *size)
{
    const unsigned char *bytes = in->at;
    *size = wanted < in->left ? wanted : in->left;
    in->at += *size;
    in->left -= *size;
    return bytes;
}

void *fuzz_copy(const void *bytes, size_t size)
{
    void *copy = malloc(size ? size : 1);
    FUZZ_CHECK(copy);
    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

char *fuzz_text(const void *bytes, size_t size)
{
    char *text = calloc(1, size + 1);
    FUZZ_CHECK(text);
    if (size)
        memcpy(text, bytes, size);
    return text;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

void fuzz_check(bool good, const char *condition, const char *file, int line)
{
    if (good)
        return;
    fprintf(stderr, "%s:%d: false: %s; the last error is: %s\n", file, line, condition,
            gr_last_error()->message);
    abort();
}

static bool is_sentence(const char *text, size_t room)
{
    size_t length = strnlen(text, room);
    return length > 0 && length < room;
}

void fuzz_check_error(gr_status status)
{
    const gr_error *error = gr_last_error();
    FUZZ_CHECK(status != GR_OK && error->status == status);
    FUZZ_CHECK(is_sentence(error->message, 4096));
    FUZZ_CHECK(strcmp(gr_status_name(status), "GR_ERR_UNKNOWN") != 0);
    gr_clear_error();
}

void fuzz_check_refused(void)
{
    fuzz_check_error(gr_last_error()->status);
}

/*
 * Counts open descriptors without the memory files of Mesa 25, which Mesa keeps. No input contains
 * such a file.
 */
static int open_fds(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    FUZZ_CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char file[64] = "";
        if (readlinkat(dirfd(folder), entry->d_name, file, sizeof(file) - 1) > 0 &&
            strcmp(file, "/memfd:allocation fd (deleted)") != 0)
            count++;
    }
    closedir(folder);
    return count;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

int fuzz_file(const void *bytes, size_t size, int seals)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    FUZZ_CHECK(fd >= 0);
    FUZZ_CHECK(write(fd, bytes, size) == (ssize_t)size);
    FUZZ_CHECK(fcntl(fd, F_ADD_SEALS, seals) == 0);
    return fd;
}

int fuzz_memory_file(size_t size, const struct fuzz_file_head *head)
{
    const struct fuzz_file_head usual = {
        .size = FUZZ_FILE_HEAD + size, .offset = FUZZ_FILE_HEAD, .name = "grinterop"};
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    FUZZ_CHECK(fd >= 0);
    FUZZ_CHECK(ftruncate(fd, (off_t)(FUZZ_FILE_HEAD + size)) == 0);
    FUZZ_CHECK(pwrite(fd, head ? head : &usual, sizeof(usual), 0) == (ssize_t)sizeof(usual));
    FUZZ_CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0);
    return fd;
}

int fuzz_semaphore_file(bool timeline, uint64_t value)
{
    const struct {
        uint32_t magic, version, timeline, changes;
        uint64_t value;
    } file = {.magic = 0x6d657372, .version = 1, .timeline = timeline, .value = value};
    return fuzz_file(&file, sizeof(file), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

struct fuzz_cuda fuzz_cuda;

/*
 * Creates and closes a resource, so that grinterop frees the resources whose free it has deferred.
 */
static void settle(void)
{
    const gr_external_memory_desc memory =
        GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                .fd = fuzz_memory_file(64, NULL), .size = 64);
    gr_resource *resource = gr_from_external_memory(&memory, GR_READ_WRITE);
    FUZZ_CHECK(resource);
    gr_resource_free(resource);
}

void fuzz_cuda_set_up(void)
{
    static gr_cuda_context *context; /* lives until the process ends */
    if (context)
        return;
    /* The files of the inputs have the format of the software driver. */
    setenv("GR_CUDA_DRIVER", "soft", 1);
    FUZZ_CHECK(gr_cuda_load(false) == GR_OK);
    context = gr_cuda_context_create(0);
    FUZZ_CHECK(context);
    fuzz_cuda.cu = gr_cuda();
    fuzz_cuda.stream = gr_cuda_context_get_info(context)->stream;
    settle(); /* opens the descriptors that stay open */
}

bool fuzz_stream_ends(void)
{
    static const struct timespec pause = {.tv_nsec = 100000};
    for (int i = 0; i < 100000; i++) {
        CUresult result = fuzz_cuda.cu->StreamQuery(fuzz_cuda.stream);
        if (result != CUDA_ERROR_NOT_READY)
            return result == CUDA_SUCCESS;
        nanosleep(&pause, NULL);
    }
    return false;
}

/*
 * Checks for leaked descriptors. First waits for the work that uses descriptors, and for the thread
 * that closes descriptors of a peer.
 */
static void check_fds(int before)
{
    static const struct timespec pause = {.tv_nsec = 100000};
    if (open_fds() != before && fuzz_cuda.cu) {
        FUZZ_CHECK(fuzz_stream_ends());
        settle();
    }
    for (int i = 0; i < 100000 && open_fds() != before; i++)
        nanosleep(&pause, NULL);
    FUZZ_CHECK(open_fds() == before);
}

void fuzz_run(const struct fuzz_target *target, const void *bytes, size_t size)
{
    int before = open_fds();
    target->run((struct fuzz_input){bytes, size});
    gr_clear_error();
    check_fds(before);
}
