/* SPDX-License-Identifier: Apache-2.0 */
#include "softcuda/nvcc/option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ignore(options *o, const option *option, const char *value)
{
    (void)o, (void)option, (void)value;
}

static void take_phase(options *o, const option *option, const char *value)
{
    (void)value;
    const char *letters = "lcEMda"; /* as enum phase has them */
    o->phase = (enum phase)(strchr(letters, option->word[0]) - letters);
    o->phase_option = option->name;
    o->separate = o->separate || option->word[1] == 's';
}

static void take_text(options *o, const option *option, const char *value)
{
    switch (option->word[0]) {
    case 'o':
        o->output = value;
        break;
    case 'b':
        o->compiler = value;
        break;
    case 'x':
        o->language = value;
        break;
    case 'i':
        o->cuda_include = value;
        break;
    case 'k':
        o->keep_dir = value;
        break;
    case 'F':
        o->dependency_file = value;
        break;
    case 'T':
        o->dependency_target = value;
        break;
    default:
        break;
    }
}

static void take_flag(options *o, const option *option, const char *value)
{
    (void)value;
    switch (option->word[0]) {
    case 'b':
        o->all_barriers = true;
        break;
    case 'k':
        o->keep = true;
        break;
    case 'v':
        o->verbose = true;
        break;
    case 'd':
        o->dry_run = true;
        break;
    case 'r':
        o->run = true;
        break;
    case 'P':
        o->phony_targets = true;
        break;
    case 'f':
        o->forward_unknown = true;
        break;
    case 'h':
        o->help = true;
        break;
    case 'V':
        o->version = true;
        break;
    case 'M':
        o->dependency_kind = option->name;
        break;
    default:
        break;
    }
}

/* nvcc takes several paths or names with commas between them. */
static void take_preprocess(options *o, const option *option, const char *value)
{
    words parts = {0};
    words_add_parts(&parts, value);
    for (size_t i = 0; i < parts.count; i++) {
        words_add(&o->preprocess, option->word);
        words_add(&o->preprocess, parts.items[i]);
    }
}

/* A macro's value has commas of its own. */
static void take_macro(options *o, const option *option, const char *value)
{
    words_add(&o->preprocess, keep_text("%s%s", option->word, value));
}

static void take_compile(options *o, const option *option, const char *value)
{
    (void)value;
    words_add(&o->compile, option->word);
}

static void take_optimisation(options *o, const option *option, const char *value)
{
    (void)option;
    o->optimised = true;
    words_add(&o->compile, keep_text("-O%s", value ? value : ""));
}

static void take_device_debug(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    o->optimised = true;
    words_add(&o->compile, "-g");
    words_add(&o->compile, "-O0");
}

/* The kernels' header needs C++17; newer ones are as asked. */
static void take_standard(options *o, const option *option, const char *value)
{
    (void)option;
    const char *digits = value + strcspn(value, "0123456789");
    bool old = strncmp(digits, "03", 2) == 0 || strncmp(digits, "98", 2) == 0 ||
               strncmp(digits, "11", 2) == 0 || strncmp(digits, "14", 2) == 0;
    words_add(&o->compile, old ? "-std=c++17" : keep_text("-std=%s", value));
}

static void take_compiler_words(options *o, const option *option, const char *value)
{
    words parts = {0};
    words_add_options(&parts, value);
    for (size_t i = 0; i < parts.count; i++)
        o->optimised = o->optimised || begins_with(parts.items[i], "-O");
    words_add_all(&o->compile, &parts);
    (void)option;
}

static void take_linker_words(options *o, const option *option, const char *value)
{
    (void)option;
    words parts = {0};
    words_add_options(&parts, value);
    for (size_t i = 0; i < parts.count; i++) {
        words_add(&o->link, "-Xlinker");
        words_add(&o->link, parts.items[i]);
    }
}

static void take_folder(options *o, const option *option, const char *value)
{
    (void)option;
    words parts = {0};
    words_add_parts(&parts, value);
    for (size_t i = 0; i < parts.count; i++)
        words_add(&o->link, keep_text("-L%s", parts.items[i]));
}

/* What runs on GPUs alone. */
static const char *const gpu_libraries[] = {"cufft",    "cublas", "cublasLt", "curand", "cusparse",
                                            "cusolver", "nvrtc",  "nvjpeg",   "cudnn",  NULL};

static void take_library_name(options *o, const char *name)
{
    const char *const ours[] = {"cudart", "cudart_static", "cudadevrt", "cudart_builtin", NULL};
    for (const char *const *l = ours; *l; l++)
        if (strcmp(name, *l) == 0)
            return;
    for (const char *const *l = gpu_libraries; *l; l++)
        if (strcmp(name, *l) == 0 || strcmp(name, keep_text("%s_static", *l)) == 0)
            die("-l%s: that library runs on GPUs alone. Leave out what uses it where "
                "__GRINTEROP_NVCC__ is defined, or build this program with nvcc",
                name);
    words_add(&o->link, keep_text("-l%s", name));
}

static void take_library(options *o, const option *option, const char *value)
{
    (void)option;
    words parts = {0};
    words_add_parts(&parts, value);
    for (size_t i = 0; i < parts.count; i++)
        take_library_name(o, parts.items[i]);
}

static void take_shared(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    o->shared = true;
    words_add(&o->link, "-shared");
}

static void take_rdc(options *o, const option *option, const char *value)
{
    (void)option;
    o->separate = strcmp(value, "true") == 0;
}

static void take_machine(options *o, const option *option, const char *value)
{
    (void)o, (void)option;
    if (strcmp(value, "64") != 0)
        die("-m%s: CUDA has programs of 64 bits alone", value);
}

static void take_stream(options *o, const option *option, const char *value)
{
    (void)option;
    if (strcmp(value, "per-thread") == 0)
        words_add(&o->preprocess, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
}

static void take_lambda(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    words_add(&o->preprocess, "-D__CUDACC_EXTENDED_LAMBDA__=1");
}

static void take_relaxed(options *o, const option *option, const char *value)
{
    (void)option, (void)value;
    words_add(&o->preprocess, "-D__CUDACC_RELAXED_CONSTEXPR__=1");
}

static void refuse_gpu_code(options *o, const option *option, const char *value)
{
    (void)o, (void)value;
    die("%s asks for code of a GPU, which only nvcc makes. For cuModuleLoad without a GPU, compile "
        "the kernels with grinterop/cuhost.h (see docs/softcuda.md); for a program, leave the "
        "option out",
        option->name);
}

#define TAKEN(name, takes)                                                                         \
    {                                                                                              \
        "-" name, "--" name, takes, ignore, NULL, NULL                                             \
    }

const option option_table[] = {
    {"-o", "--output-file", TAKES_JOINED, take_text, "o", "FILE: what it makes"},
    {"-c", "--compile", TAKES_NOTHING, take_phase, "c", "an object file of each source"},
    {"-dc", "--device-c", TAKES_NOTHING, take_phase, "cs",
     "the same, whose __device__ functions and variables other files may name"},
    {"-dw", "--device-w", TAKES_NOTHING, take_phase, "c", "as -c"},
    {"-rdc", "--relocatable-device-code", TAKES_VALUE, take_rdc, NULL, "true: as -dc does"},
    {"-dlink", "--device-link", TAKES_NOTHING, take_phase, "d",
     "an object file with nothing in it: the host's linker does the work"},
    {"-link", "--link", TAKES_NOTHING, take_phase, "l", "a program, as without any of these"},
    {"-lib", "--lib", TAKES_NOTHING, take_phase, "a", "an archive of the object files"},
    {"-shared", "--shared", TAKES_NOTHING, take_shared, NULL, "a shared library"},
    {"-run", "--run", TAKES_NOTHING, take_flag, "r", "runs the program, too"},
    {"-E", "--preprocess", TAKES_NOTHING, take_phase, "E", "what the preprocessor makes of it"},
    {"-M", "--generate-dependencies", TAKES_NOTHING, take_phase, "M", "a rule for make"},
    {"-MM", "--generate-nonsystem-dependencies", TAKES_NOTHING, take_phase, "M",
     "the same, without the system's headers"},
    {"-MD", "--generate-dependencies-with-compile", TAKES_NOTHING, take_flag, "M",
     "that rule in a file, beside the object file"},
    {"-MMD", "--generate-nonsystem-dependencies-with-compile", TAKES_NOTHING, take_flag, "M",
     "the same, without the system's headers"},
    {"-MF", "--dependency-output", TAKES_VALUE, take_text, "F", "FILE: the rule's file"},
    {"-MT", "--dependency-target-name", TAKES_VALUE, take_text, "T", "NAME: the rule's target"},
    {"-MP", "--generate-dependency-targets", TAKES_NOTHING, take_flag, "P",
     "a rule without a recipe for each header"},
    {"-I", "--include-path", TAKES_JOINED, take_preprocess, "-I", "FOLDER: of headers"},
    {"-isystem", "--system-include", TAKES_VALUE, take_preprocess, "-isystem",
     "FOLDER: of the system's headers"},
    {"-include", "--pre-include", TAKES_VALUE, take_preprocess, "-include",
     "FILE: included before the source"},
    {"-D", "--define-macro", TAKES_JOINED, take_macro, "-D", "NAME[=TEXT]"},
    {"-U", "--undefine-macro", TAKES_JOINED, take_macro, "-U", "NAME"},
    {"-L", "--library-path", TAKES_JOINED, take_folder, NULL, "FOLDER: of libraries"},
    {"-l", "--library", TAKES_JOINED, take_library, NULL, "NAME: a library"},
    {"-O", "--optimize", TAKES_JOINED, take_optimisation, NULL, "LEVEL: 2 where none is given"},
    {"-g", "--debug", TAKES_NOTHING, take_compile, "-g", "debug information"},
    {"-G", "--device-debug", TAKES_NOTHING, take_device_debug, NULL,
     "debug information, and nothing optimised"},
    {"-lineinfo", "--generate-line-info", TAKES_NOTHING, take_compile, "-g1",
     "the lines of addresses"},
    {"-pg", "--profile", TAKES_NOTHING, take_compile, "-pg", "for gprof"},
    {"-std", "--std", TAKES_VALUE, take_standard, NULL, "c++17 or newer; an older one is c++17"},
    {"-x", "--x", TAKES_JOINED, take_text, "x", "LANGUAGE: cu, c++ or c, whatever the ending"},
    {"-w", "--disable-warnings", TAKES_NOTHING, take_compile, "-w", "no warnings"},
    {"-m", "--machine", TAKES_JOINED, take_machine, NULL, "64"},
    {"-m64", NULL, TAKES_NOTHING, ignore, NULL, NULL},
    {"-ccbin", "--compiler-bindir", TAKES_VALUE, take_text, "b",
     "PATH: the host's C++ compiler, or its folder; else NVCC_CCBIN, else c++"},
    {"-Xcompiler", "--compiler-options", TAKES_VALUE, take_compiler_words, NULL,
     "OPTIONS: for the host's compiler, with commas"},
    {"-Xlinker", "--linker-options", TAKES_VALUE, take_linker_words, NULL,
     "OPTIONS: for the linker, with commas"},
    {"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler", TAKES_NOTHING,
     take_flag, "f", "gives it what is not known"},
    {"-forward-unknown-opts", "--forward-unknown-opts", TAKES_NOTHING, take_flag, "f", "the same"},
    {"-default-stream", "--default-stream", TAKES_VALUE, take_stream, NULL, "legacy or per-thread"},
    {"-extended-lambda", "--extended-lambda", TAKES_NOTHING, take_lambda, NULL,
     "lambdas for kernels, which are understood in any case"},
    {"-expt-extended-lambda", "--expt-extended-lambda", TAKES_NOTHING, take_lambda, NULL, NULL},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", TAKES_NOTHING, take_relaxed, NULL,
     NULL},
    {"-keep", "--keep", TAKES_NOTHING, take_flag, "k", "keeps the files between"},
    {"-save-temps", "--save-temps", TAKES_NOTHING, take_flag, "k", "the same"},
    {"-keep-dir", "--keep-dir", TAKES_VALUE, take_text, "k", "FOLDER: where it keeps them"},
    {"-v", "--verbose", TAKES_NOTHING, take_flag, "v", "prints the commands"},
    {"-dryrun", "--dryrun", TAKES_NOTHING, take_flag, "d", "prints them, and runs none"},
    {"-cuda-include", "--cuda-include", TAKES_VALUE, take_text, "i",
     "FOLDER: of CUDA's headers; else GR_CUDA_INCLUDE, else those that grinterop was built with"},
    {"-all-barriers", "--all-barriers", TAKES_NOTHING, take_flag, "b",
     "any kernel may meet a barrier: slower, for one that was not found out"},
    {"-V", "--version", TAKES_NOTHING, take_flag, "V", "prints the version"},
    {"-h", "--help", TAKES_NOTHING, take_flag, "h", "prints this"},
    {"-ptx", "--ptx", TAKES_NOTHING, refuse_gpu_code, NULL, NULL},
    {"-cubin", "--cubin", TAKES_NOTHING, refuse_gpu_code, NULL, NULL},
    {"-fatbin", "--fatbin", TAKES_NOTHING, refuse_gpu_code, NULL, NULL},
    {"-optix-ir", "--optix-ir", TAKES_NOTHING, refuse_gpu_code, NULL, NULL},
    {"-ltoir", "--ltoir", TAKES_NOTHING, refuse_gpu_code, NULL, NULL},
    {"-cuda", "--cuda", TAKES_NOTHING, refuse_gpu_code, NULL, NULL},
    {"-arch", "--gpu-architecture", TAKES_VALUE, ignore, NULL, NULL},
    {"-code", "--gpu-code", TAKES_VALUE, ignore, NULL, NULL},
    {"-gencode", "--generate-code", TAKES_VALUE, ignore, NULL, NULL},
    {"-Xptxas", "--ptxas-options", TAKES_VALUE, ignore, NULL, NULL},
    {"-Xnvlink", "--nvlink-options", TAKES_VALUE, ignore, NULL, NULL},
    {"-Xarchive", "--archive-options", TAKES_VALUE, ignore, NULL, NULL},
    {"-t", "--threads", TAKES_VALUE, ignore, NULL, NULL},
    {"-res-usage", "--resource-usage", TAKES_NOTHING, ignore, NULL, NULL},
    {"-src-in-ptx", "--source-in-ptx", TAKES_NOTHING, ignore, NULL, NULL},
    {"-dlto", "--dlink-time-opt", TAKES_NOTHING, ignore, NULL, NULL},
    {"-err-no", "--display-error-number", TAKES_NOTHING, ignore, NULL, NULL},
    {"-no-err-no", "--no-display-error-number", TAKES_NOTHING, ignore, NULL, NULL},
    {"-diag-suppress", "--diag-suppress", TAKES_VALUE, ignore, NULL, NULL},
    {"-diag-warn", "--diag-warn", TAKES_VALUE, ignore, NULL, NULL},
    {"-diag-error", "--diag-error", TAKES_VALUE, ignore, NULL, NULL},
    {"-Werror", "--Werror", TAKES_VALUE, ignore, NULL, NULL},
    {"-Wreorder", "--Wreorder", TAKES_NOTHING, ignore, NULL, NULL},
    {"-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets", TAKES_NOTHING, ignore, NULL,
     NULL},
    TAKEN("cudart", TAKES_VALUE),
    TAKEN("cudadevrt", TAKES_VALUE),
    TAKEN("use_fast_math", TAKES_NOTHING),
    TAKEN("ftz", TAKES_VALUE),
    TAKEN("fmad", TAKES_VALUE),
    TAKEN("prec-div", TAKES_VALUE),
    TAKEN("prec-sqrt", TAKES_VALUE),
    TAKEN("maxrregcount", TAKES_VALUE),
    TAKEN("extra-device-vectorization", TAKES_NOTHING),
    TAKEN("restrict", TAKES_NOTHING),
    TAKEN("allow-unsupported-compiler", TAKES_NOTHING),
    TAKEN("objdir-as-tempdir", TAKES_NOTHING),
    TAKEN("compress-mode", TAKES_VALUE),
    TAKEN("no-compress", TAKES_NOTHING),
    TAKEN("split-compile", TAKES_VALUE),
    TAKEN("target-directory", TAKES_VALUE),
    TAKEN("device-stack-protector", TAKES_VALUE),
    TAKEN("static-global-template-stub", TAKES_VALUE),
    TAKEN("no-host-device-initializer-list", TAKES_NOTHING),
    TAKEN("no-host-device-move-forward", TAKES_NOTHING),
    TAKEN("no-exceptions", TAKES_NOTHING),
    TAKEN("brief-diagnostics", TAKES_VALUE),
    TAKEN("time", TAKES_VALUE),
    {NULL, NULL, TAKES_NOTHING, NULL, NULL, NULL},
};
