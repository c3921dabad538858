/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share. A target takes bytes of anybody's, lets grinterop read them, and
 * checks more than that nothing crashes. libFuzzer runs it by fuzz_entry.c, and test_fuzz.c runs it
 * with the inputs that were found before.
 */
#ifndef GR_TESTS_FUZZ_H
#define GR_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <grinterop/cuda.h>
#include <grinterop/gr.h>

/* The bytes of an input that are left. Behind its end all are 0. */
struct fuzz_input {
    const unsigned char *at;
    size_t left;
};

uint8_t fuzz_byte(struct fuzz_input *in);
uint64_t fuzz_number(struct fuzz_input *in, unsigned width); /* least significant byte first */

/* A number below n, of one byte; n is at most 256. */
unsigned fuzz_below(struct fuzz_input *in, unsigned n);

/* A size: small, at a power of two, close to a limit, or any. */
uint64_t fuzz_size(struct fuzz_input *in, uint64_t limit);

/* So many bytes, or as many as there are; *size is how many. They lie where they lay. */
const unsigned char *fuzz_bytes(struct fuzz_input *in, size_t wanted, size_t *size);

/* So many bytes in memory of their own, so that what reads past them is found; the caller's. */
void *fuzz_copy(const void *bytes, size_t size);

/* The same with a 0 behind them. */
char *fuzz_text(const void *bytes, size_t size);

/* For products that don't fit in 64 bits. */
__extension__ typedef __int128 fuzz_wide;
__extension__ typedef unsigned __int128 fuzz_count;

/* ---- A target -------------------------------------------------------------------------------- */

struct fuzz_target {
    const char *name;
    void (*set_up)(void); /* once; NULL: nothing to do */
    void (*run)(struct fuzz_input in);
};

/* Runs it; as many descriptors are open after it as before. */
void fuzz_run(const struct fuzz_target *target, const void *bytes, size_t size);

extern const struct fuzz_target fuzz_description, fuzz_flags, fuzz_info, fuzz_message, fuzz_png,
    fuzz_tensor;

/* ---- Checks ---------------------------------------------------------------------------------- */

/* Ends the process where it is not so, in which libFuzzer keeps the input. */
#define FUZZ_CHECK(condition) fuzz_check(condition, #condition, __FILE__, __LINE__)
void fuzz_check(bool good, const char *condition, const char *file, int line);

/* A call that failed left an error of that class, with a sentence; it is forgotten afterwards. */
void fuzz_check_error(gr_status status);

/* The same for one that made nothing: any class but GR_OK. */
void fuzz_check_refused(void);

/* ---- CUDA ------------------------------------------------------------------------------------ */

struct fuzz_cuda {
    const gr_cuda_api *cu;
    CUstream stream;
};

/* With a context of the first device, which is current. */
extern struct fuzz_cuda fuzz_cuda;
void fuzz_cuda_set_up(void);

/* Whether the stream's work ends in some seconds. */
bool fuzz_stream_ends(void);

/* ---- What another API shared ---------------------------------------------------------------- */

/* Bytes before the data of such a file of the software driver's. */
enum { FUZZ_FILE_HEAD = 4096 };

/* What it begins with. */
struct fuzz_file_head {
    uint64_t size, offset;
    unsigned char uuid[16];
    char name[12];
    uint32_t device;
};

/* A file of so many bytes of data, all 0, sealed; its own head if that is NULL. The caller's. */
int fuzz_memory_file(size_t size, const struct fuzz_file_head *head);

/* A file of these bytes with those seals; the caller's. */
int fuzz_file(const void *bytes, size_t size, int seals);

/* A semaphore's file, as the software driver has it, and where its value lies; the caller's. */
enum { FUZZ_SEMAPHORE_VALUE = 16 };
int fuzz_semaphore_file(bool timeline, uint64_t value);

#endif
