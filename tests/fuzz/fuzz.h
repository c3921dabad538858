/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the fuzz targets. A target passes untrusted bytes to grinterop and also checks the
 * results, besides finding crashes. libFuzzer runs it through fuzz_entry.c. test_fuzz.c runs it
 * with the inputs of its corpus.
 */
#ifndef GR_TESTS_FUZZ_H
#define GR_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <grinterop/cuda.h>
#include <grinterop/gr.h>

/* The unread bytes of an input. Past the end of the input all bytes read as 0. */
struct fuzz_input {
    const unsigned char *at;
    size_t left;
};

uint8_t fuzz_byte(struct fuzz_input *in);
/* Reads the least significant byte first. */
uint64_t fuzz_number(struct fuzz_input *in, unsigned width);

/* Returns a number below n, taken from one byte. n is at most 256. */
unsigned fuzz_below(struct fuzz_input *in, unsigned n);

/* Returns a size: small, near a power of two, near the limit, or any other. */
uint64_t fuzz_size(struct fuzz_input *in, uint64_t limit);

/*
 * Returns a pointer to the next `wanted` bytes, or fewer at the end of the input. *size is their
 * number.
 */
const unsigned char *fuzz_bytes(struct fuzz_input *in, size_t wanted, size_t *size);

/*
 * Copies the bytes to memory of exactly that size, so that overreads are found. The caller frees
 * it.
 */
void *fuzz_copy(const void *bytes, size_t size);

/* Like fuzz_copy(), with a terminating 0 after the bytes. */
char *fuzz_text(const void *bytes, size_t size);

/* An integer for products that exceed 64 bits. */
__extension__ typedef __int128 fuzz_wide;
__extension__ typedef unsigned __int128 fuzz_count;

/* ---- A target -------------------------------------------------------------------------------- */

struct fuzz_target {
    const char *name;
    void (*set_up)(void); /* called once; may be NULL */
    void (*run)(struct fuzz_input in);
};

/* Runs the target and checks that no descriptors leak. */
void fuzz_run(const struct fuzz_target *target, const void *bytes, size_t size);

extern const struct fuzz_target fuzz_description, fuzz_flags, fuzz_info, fuzz_message, fuzz_png,
    fuzz_tensor;

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Aborts the process if the condition is false. libFuzzer then saves the input. */
#define FUZZ_CHECK(condition) fuzz_check(condition, #condition, __FILE__, __LINE__)
void fuzz_check(bool good, const char *condition, const char *file, int line);

/* Checks that a failed call recorded an error of that class, with a message. Clears the error. */
void fuzz_check_error(gr_status status);

/*
 * Like fuzz_check_error(), for a call that returned NULL: the error may have any class but GR_OK.
 */
void fuzz_check_refused(void);

/* ---- CUDA ------------------------------------------------------------------------------------ */

struct fuzz_cuda {
    const gr_cuda_api *cu;
    CUstream stream;
};

/* The current CUDA context of the targets, on the first device. */
extern struct fuzz_cuda fuzz_cuda;
void fuzz_cuda_set_up(void);

/* Whether the work in the stream ends within a few seconds. */
bool fuzz_stream_ends(void);

/* ---- Shared by another API ------------------------------------------------------------------- */

/* The size of the header before the data in a memory file of the software driver. */
enum { FUZZ_FILE_HEAD = 4096 };

/* The first fields of the header of a memory file. */
struct fuzz_file_head {
    uint64_t size, offset;
    unsigned char uuid[16];
    char name[12];
    uint32_t device;
};

/*
 * Creates a sealed file with `size` bytes of data, all 0. With a NULL `head` the file has the usual
 * header. The caller closes the file.
 */
int fuzz_memory_file(size_t size, const struct fuzz_file_head *head);

/* Creates a file with these bytes and these seals. The caller closes the file. */
int fuzz_file(const void *bytes, size_t size, int seals);

/*
 * Creates a semaphore file of the software driver, whose value is at FUZZ_SEMAPHORE_VALUE. The
 * caller closes the file.
 */
enum { FUZZ_SEMAPHORE_VALUE = 16 };
int fuzz_semaphore_file(bool timeline, uint64_t value);

#endif
