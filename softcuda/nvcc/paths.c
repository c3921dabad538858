/* SPDX-License-Identifier: Apache-2.0 */
#include "softcuda/nvcc/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * What comes before the folder that this program was configured for: `make install DESTDIR=...`
 * puts all of it below another root.
 */
static const char *find_root(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0)
        return "";
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    *slash = '\0';
    if (!ends_with(path, GR_NVCC_BINDIR))
        return "";
    return keep_bytes(path, strlen(path) - strlen(GR_NVCC_BINDIR));
}

static bool has_cuda(const char *folder)
{
    return access(keep_text("%s/cuda_runtime.h", folder), R_OK) == 0;
}

static const char *cuda_folder(const char *given)
{
    const char *asked = given ? given : secure_getenv("GR_CUDA_INCLUDE");
    const char *const places[] = {asked ? asked : GR_NVCC_CUDA_INCLUDEDIR,
                                  asked ? asked : "/usr/local/cuda/include",
                                  asked ? asked : "/usr/include"};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        if (has_cuda(places[i]))
            return places[i];
    die("there is no cuda_runtime.h in %s: name the folder of CUDA's headers by --cuda-include or "
        "GR_CUDA_INCLUDE. They need no toolkit: PyPI has them in nvidia-cuda-runtime and "
        "nvidia-cuda-crt",
        places[0]);
}

/* The headers' first: CUDA's are for nvcc. */
void paths_add_headers(const options *o, words *command)
{
    const char *own = secure_getenv("GR_NVCC_INCLUDE"); /* of a build that is not installed */
    const char *root = find_root();
    words folders = {0};
    if (own) {
        words_add_parts(&folders, own);
    } else {
        words_add(&folders, keep_text("%s%s/grinterop/nvcc", root, GR_NVCC_INCLUDEDIR));
        words_add(&folders, keep_text("%s%s", root, GR_NVCC_INCLUDEDIR));
    }
    for (size_t i = 0; i < folders.count; i++) {
        words_add(command, i == 0 ? "-I" : "-isystem");
        words_add(command, folders.items[i]);
    }
    words_add(command, "-isystem");
    words_add(command, cuda_folder(o->cuda_include));
}

void paths_add_libraries(words *command)
{
    const char *own = secure_getenv("GR_NVCC_LIBRARY");
    const char *root = find_root();
    words folders = {0};
    if (own) {
        words_add_parts(&folders, own);
    } else {
        words_add(&folders, keep_text("%s%s", root, GR_NVCC_LIBDIR));
        words_add(&folders, keep_text("%s%s/grinterop", root, GR_NVCC_LIBDIR));
        words_add(&folders, keep_text("%s%s/grinterop/libcuda", root, GR_NVCC_LIBDIR));
    }
    for (size_t i = 0; i < folders.count; i++) {
        words_add(command, keep_text("-L%s", folders.items[i]));
        words_add(command, keep_text("-Wl,-rpath,%s", folders.items[i]));
    }
    words_add(command, "-lgrinterop-softcudart");
}

static void print_words(const char *title, const words *list)
{
    fprintf(stderr, "#$ %s=", title);
    for (size_t i = 0; i < list->count; i++)
        fprintf(stderr, "%s%s", i ? " " : "", list->items[i]);
    fputc('\n', stderr);
}

void paths_print(const options *o)
{
    const char *include = cuda_folder(o->cuda_include);
    const char *slash = strrchr(include, '/');
    const char *top = keep_bytes(include, (size_t)(slash - include));
    words includes = {0}, libraries = {0};
    words_add(&includes, keep_text("-I%s", include));
    paths_add_libraries(&libraries);
    fprintf(stderr, "#$ TOP=%s\n#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n", top, top);
    print_words("INCLUDES", &includes);
    print_words("LIBRARIES", &libraries);
}

int paths_cuda_version(void)
{
    int version = 0;
    FILE *file = fopen(keep_text("%s/cuda_runtime_api.h", cuda_folder(NULL)), "r");
    for (char line[512]; file && fgets(line, sizeof(line), file);)
        if (sscanf(line, " # define CUDART_VERSION %d", &version) == 1 ||
            sscanf(line, "#define CUDART_VERSION %d", &version) == 1)
            break;
    if (file)
        fclose(file);
    return version;
}
