/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/libraries.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "softcuda/nvcc/text.h"

/*
 * Prefixes of the files of each library. "curand." excludes curand_kernel.h: the cuRAND functions
 * for kernels are entirely in headers.
 */
static const struct {
    const char *name, *title;
} libraries[] = {
    {"cufft", "cuFFT"},       {"cublas", "cuBLAS"}, {"curand.", "cuRAND"}, {"cusparse", "cuSPARSE"},
    {"cusolver", "cuSOLVER"}, {"npp", "NPP"},       {"nvrtc", "NVRTC"},    {"nvjpeg", "nvJPEG"},
    {"cudnn", "cuDNN"},       {"nccl", "NCCL"},     {NULL, NULL},
};

static const char *refusal(const char *title)
{
    return keep_text("%s runs only on GPUs. Exclude the code that uses it where __GRINTEROP_NVCC__ "
                     "is defined, or build this program with nvcc",
                     title);
}

static const char *find(const char *name)
{
    for (size_t i = 0; libraries[i].name; i++)
        if (begins_with(name, libraries[i].name))
            return refusal(libraries[i].title);
    return NULL;
}

const char *library_refusal(const char *library)
{
    return find(keep_text("%s.", library));
}

static bool is_below(const char *path, const char *folder)
{
    const char *inside = keep_text("/%s/", folder);
    return begins_with(path, inside + 1) || strstr(path, inside);
}

const char *header_refusal(const char *path)
{
    if (is_below(path, "thrust"))
        return refusal("Thrust");
    if (is_below(path, "cub"))
        return refusal("CUB");
    return ends_with(path, ".h") ? find(base_name(path)) : NULL;
}

/*
 * Prints the refusal if the line reports a missing header of a GPU library. The header is the first
 * word after "file:line:column: fatal error:", quoted or not, in any language.
 */
static void print_refusal(const char *line)
{
    const char *error = strstr(line, "error: ");
    size_t place = strcspn(line, ":");
    if (!error || !isdigit((unsigned char)line[place + 1]))
        return;
    const char *name = error + strlen("error: ");
    name += strspn(name, "'\"");
    const char *header = keep_bytes(name, strcspn(name, "'\":"));
    place += 1 + strcspn(line + place + 1, ":");
    if (header_refusal(header))
        fprintf(stderr, "%.*s: error: %s\n", (int)place, line, header_refusal(header));
}

void print_header_refusals(const char *errors)
{
    while (*errors) {
        size_t length = strcspn(errors, "\n");
        print_refusal(keep_bytes(errors, length));
        errors += length + (errors[length] == '\n');
    }
}
