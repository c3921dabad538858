/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * grinterop-nvcc replaces nvcc: it compiles CUDA runtime API programs for the CPU. The host
 * preprocessor reads a program, with the headers of grinterop-nvcc before those of CUDA. Then the
 * extensions of C++ by CUDA are rewritten, and the host compiler compiles the result. Line numbers
 * are preserved, so errors and debuggers show the lines of the program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softcuda/nvcc/command.h"
#include "softcuda/nvcc/help.h"
#include "softcuda/nvcc/options.h"
#include "softcuda/nvcc/paths.h"
#include "softcuda/nvcc/rewrite.h"

/*
 * Returns the host compiler. -ccbin is the path of a compiler, or of the folder that contains it.
 */
static const char *compiler(const options *o)
{
    const char *path = o->compiler ? o->compiler : secure_getenv("NVCC_CCBIN");
    struct stat status;
    if (!path || !*path)
        return "c++";
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return keep_text("%s/%s", path,
                         access(keep_text("%s/g++", path), X_OK) == 0 ? "g++" : "c++");
    return path;
}

static bool is_c(const options *o, const char *path)
{
    return o->language ? strcmp(o->language, "c") == 0 : ends_with(path, ".c");
}

/* Adds options that both steps of a compilation need. */
static void add_common(const options *o, words *command, const char *path)
{
    bool standard = false;
    for (size_t i = 0; i < o->compile.count; i++)
        standard = standard || begins_with(o->compile.items[i], "-std=");
    if (!standard && !is_c(o, path))
        words_add(command, "-std=c++17");
    /*
     * nvcc optimises kernels by default as well. With -O3 the compiler vectorises the loop over a
     * block.
     */
    if (!o->optimised && is_cuda(o, path))
        words_add(command, "-O3");
    /* Under nvcc, a program may read the bits of a float through a pointer to int. */
    if (is_cuda(o, path))
        words_add(command, "-fno-strict-aliasing");
    words_add_all(command, &o->compile);
    if (is_cuda(o, path)) /* programs contain #pragma unroll */
        words_add(command, "-Wno-unknown-pragmas");
}

/* Returns the path of the file in the -odir folder. */
static const char *in_output_folder(const options *o, const char *name)
{
    return o->output_dir ? keep_text("%s/%s", o->output_dir, name) : name;
}

static const char *object_of(const options *o, const char *path)
{
    return o->output && o->phase == PHASE_COMPILE ? o->output
                                                  : in_output_folder(o, renamed(path, ".o"));
}

/* Returns the output file of a command that has a single output for all its files. */
static const char *output_of(const options *o)
{
    const char *name = o->phase == PHASE_ARCHIVE       ? "a.a"
                       : o->phase == PHASE_DEVICE_LINK ? "a_dlink.o"
                                                       : "a.out";
    return o->output ? o->output : in_output_folder(o, name);
}

/* Returns the path of the dependency file; NULL if the options request none. */
static const char *dependency_file_of(const options *o, const char *path)
{
    if (o->dependency_file || !o->dependency_kind)
        return o->dependency_file;
    const char *object = object_of(o, path), *dot = strrchr(object, '.');
    return keep_text("%.*s.d", (int)(dot ? (size_t)(dot - object) : strlen(object)), object);
}

static void add_dependencies(const options *o, words *command, const char *path)
{
    const char *target = o->dependency_target ? o->dependency_target : object_of(o, path);
    const char *file = dependency_file_of(o, path);
    if (!o->dependency_kind && o->phase != PHASE_DEPENDENCIES)
        return;
    words_add(command, o->dependency_kind ? o->dependency_kind : o->phase_option);
    if (file) {
        words_add(command, "-MF");
        words_add(command, file);
    }
    words_add(command, "-MT");
    words_add(command, target);
    if (o->phony_targets)
        words_add(command, "-MP");
}

/* Begins a command with everything that precedes the source; `step` is -E or -c. */
static void begin_preprocess(const options *o, words *command, const char *path, const char *step)
{
    bool cuda = is_cuda(o, path);
    words_add(command, compiler(o));
    words_add(command, step);
    words_add(command, "-x");
    words_add(command, is_c(o, path) ? "c" : "c++");
    add_common(o, command, path);
    if (cuda)
        words_add(command, "-D__GRINTEROP_NVCC__=1");
    if (cuda && o->separate)
        words_add(command, "-D__CUDACC_RDC__=1");
    paths_add_headers(o, command);
    words_add_all(command, &o->preprocess);
    if (cuda) {
        words_add(command, "-include");
        words_add(command, "grinterop_nvcc.h");
        words_add(command, "-include");
        words_add(command, "grinterop_nvcc_words.h");
    }
    add_dependencies(o, command, path);
    words_add(command, path);
}

static void print_preprocessed(const options *o, const char *path)
{
    words command = {0};
    begin_preprocess(o, &command, path, "-E");
    if (o->output) {
        words_add(&command, "-o");
        words_add(&command, o->output);
    }
    command_preprocess(o, &command);
}

static const char *rewrite(const options *o, const char *path)
{
    words command = {0};
    const char *preprocessed = command_file(o, renamed(path, ".cpp1.ii"));
    const char *rewritten = command_file(o, renamed(path, ".cpp4.ii"));
    begin_preprocess(o, &command, path, "-E");
    words_add(&command, "-o");
    words_add(&command, preprocessed);
    command_preprocess(o, &command);
    if (!o->dry_run)
        rewrite_file(preprocessed, rewritten,
                     &(rewrite_options){.all_barriers = o->all_barriers, .separate = o->separate});
    return rewritten;
}

static void compile(const options *o, const char *path, const char *object)
{
    words command = {0};
    if (is_cuda(o, path)) {
        const char *rewritten = rewrite(o, path);
        words_add(&command, compiler(o));
        words_add(&command, "-c");
        words_add(&command, "-x");
        words_add(&command, "c++-cpp-output");
        add_common(o, &command, path);
        words_add(&command, rewritten);
    } else {
        begin_preprocess(o, &command, path, "-c");
    }
    words_add(&command, "-o");
    words_add(&command, object);
    command_run(o, &command);
}

/* Whether o->link[i] is a source or object file, not an option or a library. */
static bool is_object(const options *o, size_t i)
{
    const char *word = o->link.items[i];
    if (word[0] == '-' || (i > 0 && strcmp(o->link.items[i - 1], "-Xlinker") == 0))
        return false;
    return !ends_with(word, ".a") && !ends_with(word, ".so") && !strstr(base_name(word), ".so.");
}

/*
 * Adds the arguments of the linker. Compiles each source and adds its object file in place of the
 * source. Libraries follow all objects, as with nvcc: with --as-needed the linker drops libraries
 * that precede the objects.
 */
static void add_linked(const options *o, words *command)
{
    for (size_t i = 0; i < o->link.count; i++) {
        const char *word = o->link.items[i];
        if (!is_object(o, i))
            continue;
        if (is_source(o, word)) {
            const char *object = command_file(o, renamed(word, ".o"));
            compile(o, word, object);
            word = object;
        }
        words_add(command, word);
    }
    for (size_t i = 0; i < o->link.count; i++)
        if (!is_object(o, i))
            words_add(command, o->link.items[i]);
}

static void link_program(const options *o)
{
    words command = {0};
    const char *output = output_of(o);
    words_add(&command, compiler(o));
    words_add(&command, "-o");
    words_add(&command, output);
    words_add_all(&command, &o->compile);
    add_linked(o, &command);
    if (!o->relocatable && !o->dry_run)
        paths_check_libraries();
    if (!o->relocatable)
        paths_add_libraries(&command);
    command_run(o, &command);
    if (o->run) {
        words program = {0};
        words_add(&program, strchr(output, '/') ? output : keep_text("./%s", output));
        words_add_all(&program, &o->run_arguments);
        command_run(o, &program);
    }
}

/*
 * With nvcc this file contains the linked device code of all objects. Here there is no device code,
 * so the file is empty.
 */
static void link_device(const options *o)
{
    words command = {0};
    const char *const parts[] = {compiler(o), "-c", "-x", "c++", "/dev/null", "-o", output_of(o)};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        words_add(&command, parts[i]);
    words_add_all(&command, &o->compile);
    command_run(o, &command);
}

static void archive(const options *o)
{
    words command = {0};
    words_add(&command, o->archiver ? o->archiver : "ar");
    words_add(&command, "rcs");
    words_add_all(&command, &o->archive);
    words_add(&command, output_of(o));
    add_linked(o, &command);
    command_run(o, &command);
}

/* Runs -clean: removes the outputs instead of creating them. */
static void remove_outputs(const options *o)
{
    bool each = o->phase == PHASE_COMPILE;
    for (size_t i = 0; i < o->sources.count; i++) {
        const char *dependencies = dependency_file_of(o, o->sources.items[i]);
        if (each)
            unlink(object_of(o, o->sources.items[i]));
        if (dependencies)
            unlink(dependencies);
    }
    if (!each && o->phase != PHASE_PREPROCESS && o->phase != PHASE_DEPENDENCIES)
        unlink(output_of(o));
}

int main(int count, char **arguments)
{
    options o = {.phase = PHASE_LINK};
    options_read(&o, count, arguments);
    if (o.help || o.version) {
        (o.help ? help_print : help_print_version)();
        return 0;
    }
    if (o.clean) {
        remove_outputs(&o);
        return 0;
    }
    if (o.verbose)
        paths_print(&o);
    switch (o.phase) {
    case PHASE_LINK:
        link_program(&o);
        break;
    case PHASE_DEVICE_LINK:
        link_device(&o);
        break;
    case PHASE_ARCHIVE:
        archive(&o);
        break;
    case PHASE_COMPILE:
        for (size_t i = 0; i < o.sources.count; i++)
            compile(&o, o.sources.items[i], object_of(&o, o.sources.items[i]));
        break;
    case PHASE_PREPROCESS:
    case PHASE_DEPENDENCIES:
        for (size_t i = 0; i < o.sources.count; i++)
            print_preprocessed(&o, o.sources.items[i]);
        break;
    }
    return 0;
}
