/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/paths.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNTIME "libgrinterop-softcudart.so"

/* The folder that contains this program; "" if it is unknown. */
static const char *own_folder(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0)
        return "";
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    return keep_text("%s", path);
}

/*
 * The folder that configure called `planned`, found relative to the actual folder of this program.
 */
static const char *relocated(const char *planned)
{
    static const char from[] = GR_NVCC_BINDIR;
    const char *own = own_folder();
    size_t same = 0, length = strlen(own);
    for (size_t i = 0; from[i] && from[i] == planned[i]; i++)
        if (from[i] == '/')
            same = i;
    for (const char *up = from + same; (up = strchr(up, '/')); up++)
        while (length > 0 && own[--length] != '/')
            ;
    return keep_text("%.*s%s", (int)length, own, planned + same);
}

/*
 * The folder that contains `file`. It is first searched relative to this program, because an
 * installation may have been moved, or installed with DESTDIR. Otherwise it is the configured
 * folder, because the program may have been copied without the rest of the installation.
 */
static const char *installed(const char *planned, const char *file)
{
    const char *near = relocated(planned);
    return access(keep_text("%s/%s", near, file), R_OK) == 0 ? near : planned;
}

static bool has_headers(const char *folder)
{
    return access(keep_text("%s/grinterop_nvcc.h", folder), R_OK) == 0;
}

/*
 * The source folder that the Makefile in the program's folder names; NULL if that is not a build
 * folder.
 */
static const char *source_folder(void)
{
    const char *found = NULL;
    FILE *file = fopen(keep_text("%s/Makefile", own_folder()), "r");
    for (char line[PATH_MAX + 64], path[PATH_MAX]; file && fgets(line, sizeof(line), file);)
        if (sscanf(line, "abs_top_srcdir = %4095[^\n]", path) == 1) {
            found = keep_text("%s", path);
            break;
        }
    if (file)
        fclose(file);
    return found && has_headers(keep_text("%s/softcuda/nvcc/include", found)) ? found : NULL;
}

/*
 * The folders that the environment variable sets for a build that is not installed; NULL if it is
 * unset.
 */
static const char *folders_from_env(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && *value ? value : NULL;
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
    die("no cuda_runtime.h in %s: set the folder of CUDA's headers with --cuda-include or "
        "GR_CUDA_INCLUDE. The toolkit is not needed: PyPI has the headers in nvidia-cuda-runtime "
        "and nvidia-cuda-crt",
        places[0]);
}

/*
 * Reports a missing file. `given` is true if the user set the folder, so that it is not part of an
 * installation.
 */
_Noreturn static void die_missing(const char *file, const char *folder, bool given)
{
    const char *remedy =
        "GR_NVCC_INCLUDE lists softcuda/nvcc/include, softcuda/include and include of grinterop's "
        "sources, separated by commas; GR_NVCC_LIBRARY is .libs of its build folder";
    if (given)
        die("no %s in %s: %s", file, folder, remedy);
    die("no %s in %s, nor relative to this program in %s: move the whole installation, or install "
        "grinterop. For an uninstalled build set two variables: %s",
        file, folder, relocated(folder), remedy);
}

static void find_headers(words *folders)
{
    const char *given = folders_from_env("GR_NVCC_INCLUDE"), *source = source_folder();
    if (given) {
        words_add_parts(folders, given);
    } else if (source) {
        words_add(folders, keep_text("%s/softcuda/nvcc/include", source));
        words_add(folders, keep_text("%s/softcuda/include", source));
        words_add(folders, keep_text("%s/include", source));
    } else {
        const char *include = installed(GR_NVCC_INCLUDEDIR, "grinterop/nvcc/grinterop_nvcc.h");
        words_add(folders, keep_text("%s/grinterop/nvcc", include));
        words_add(folders, include);
    }
    if (!has_headers(folders->items[0]))
        die_missing("grinterop_nvcc.h", folders->items[0], given != NULL);
}

/*
 * The headers of grinterop-nvcc come first, because they replace CUDA headers that only work with
 * nvcc.
 */
void paths_add_headers(const options *o, words *command)
{
    words folders = {0};
    find_headers(&folders);
    for (size_t i = 0; i < folders.count; i++) {
        words_add(command, i == 0 ? "-I" : "-isystem");
        words_add(command, folders.items[i]);
    }
    words_add(command, "-isystem");
    words_add(command, cuda_folder(o->cuda_include));
}

static void find_libraries(words *folders)
{
    const char *given = folders_from_env("GR_NVCC_LIBRARY");
    if (given) {
        words_add_parts(folders, given);
    } else if (source_folder()) {
        words_add(folders, keep_text("%s/.libs", own_folder()));
    } else {
        const char *lib = installed(GR_NVCC_LIBDIR, "grinterop/" RUNTIME);
        words_add(folders, keep_text("%s/grinterop", lib));
        words_add(folders, lib);
        words_add(folders, keep_text("%s/grinterop/libcuda", lib));
    }
}

void paths_check_libraries(void)
{
    words folders = {0};
    find_libraries(&folders);
    for (size_t i = 0; i < folders.count; i++)
        if (access(keep_text("%s/" RUNTIME, folders.items[i]), R_OK) == 0)
            return;
    die_missing(RUNTIME, folders.items[0], folders_from_env("GR_NVCC_LIBRARY") || source_folder());
}

void paths_add_libraries(words *command)
{
    words folders = {0};
    find_libraries(&folders);
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
