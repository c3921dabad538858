#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_nvcc.sh: grinterop-nvcc as a replacement for nvcc: on the command line, in make and CMake
# projects, with common build options, and with debug information. Runs the programs of
# softcuda/tests/nvcc on the software driver.
#
# GR_TOOLS  the folder of grinterop-nvcc; default: the build folder, which is the current folder

suite=nvcc
# shellcheck source=softcuda/tests/nvcc/nvcc_cases.sh
. "$(dirname "$0")/nvcc_cases.sh"

# shellcheck disable=SC2046 # options, or nothing
compile() { "$nvcc" $(sanitize) "$@"; }

# ---- The programs ----

runtime=$tools/.libs/libgrinterop-softcudart.so
if [ ! -e "$runtime" ]; then
    skip programs "$runtime was not built"
else
    for program in wave filter templates texture groups warps shapes guards managed \
        asserts rows steps functions graphs pipelines; do
        check "compile_$program" 0 compile -Xcompiler -Wall "$programs/$program.cu" -o "$program"
        if grep -q 'warning:' err; then fail "warnings"; fi
        check "run_$program" 0 "./$program"
    done
    if [ "${GR_SANITIZER:-no}" = no ]; then
        check run_guards_far 0 ./guards far
        check run_rows_far 0 ./rows far
    else
        skip run_far 'two billion threads take too long with a sanitizer'
    fi
    check assertion 0 ./asserts loop && says err \
        'asserts.cu:13: kernel counts: block: [1,0,0], thread: [1,0,0] Assertion `i < n' \
        && says out 'printed before'
    check assertion_at_barriers 0 ./asserts barriers && says err \
        'asserts.cu:20: kernel meets: block: [0,0,0], thread: [2,1,0] Assertion `threadIdx.x < most'
    check assertion_on_the_host bad ./asserts host && says err 'Assertion `argc == 0'
    # Catches: no program compiled with NDEBUG, which CMake's Release builds define.
    check compile_release 0 compile -O3 -DNDEBUG "$programs/asserts.cu" -o release &&
        check run_release 0 ./release
    check debug_rows 0 compile -G "$programs/rows.cu" -o rows && check run_debug_rows 0 ./rows
    # The program is built as in softcuda/docs/legacy.md, without the settings of run-test. Catches:
    # adjacent integer parameters were reported as an address, because the shadow memory of
    # AddressSanitizer is mapped at that address.
    case ${GR_SANITIZER:-no} in
    *thread*) skip sanitized "ThreadSanitizer and AddressSanitizer exclude each other" ;;
    *)
        user='env -u ASAN_OPTIONS -u LSAN_OPTIONS -u UBSAN_OPTIONS'
        check compile_sanitized 0 "$nvcc" -g -Xcompiler -fsanitize=address,-fsanitize=undefined \
            "$programs/sanitized.cu" -o sanitized
        # shellcheck disable=SC2086 # a command's words
        check run_sanitized 0 $user ./sanitized
        if grep -F 'host memory unknown' err >/dev/null; then fail "integer taken as an address"; fi
        # Catches: LeakSanitizer crashed after a library was loaded late, as modules are.
        check sanitized_options 0 env ASAN_OPTIONS=help=1 ./sanitized
        if ! grep -A2 'intercept_tls_get_addr' out err | grep -F 'Value: false' >/dev/null; then
            fail "AddressSanitizer's table of thread-local memory is not disabled"
        fi
        # shellcheck disable=SC2086 # the same
        check sanitized_host_memory 0 $user ./sanitized own &&
            says err 'kernel host_memory is given address' 'host memory unknown'
        ;;
    esac
    check separate_main 0 compile -dc "$programs/parts_main.cu" -o main.o
    check separate_device 0 compile -rdc=true -c "$programs/parts_device.cu" -o device.o
    check device_link 0 compile -arch=sm_90 -dlink main.o device.o -o link.o
    check separate_link 0 compile main.o device.o link.o -o parts
    check separate_run 0 ./parts
    check library 0 compile -lib device.o -o libparts.a
    check library_link 0 compile main.o -L. -lparts -Xlinker --as-needed -o by_library
    check library_run 0 ./by_library
    check library_first 0 compile -L. -lparts main.o -o by_library_first
    check plugin 0 compile -shared -Xcompiler -fPIC "$programs/plugin.cu" -o plugin.so
    check plugin_main 0 compile "$programs/plugin_main.cu" -o plugin_main
    if [ "${GR_SANITIZER:-no}" = no ]; then
        check plugin_run 0 ./plugin_main
    else
        skip plugin_run 'libraries stay loaded with a sanitizer'
    fi
    check run 0 compile -run "$programs/wave.cu" -o wave
    check barriers 0 compile --all-barriers "$programs/wave.cu" -o slow && check slow 0 ./slow
fi

# ---- Location of the headers ----

# away NAME STATUS PROGRAM: like check, without the environment variables for the folders.
away() {
    check "$1" "$2" env GR_NVCC_INCLUDE= GR_NVCC_LIBRARY= "$3" -c away.cu
}
echo '__global__ void kernel() {}' >away.cu
away build_folder 0 "$nvcc"
cp "$nvcc" copied
away no_install 1 ./copied && says err 'no grinterop_nvcc.h' "move the whole installation" \
    GR_NVCC_INCLUDE GR_NVCC_LIBRARY
# Catches: after its installation was moved, grinterop-nvcc searched only the old location. Its
# message named only one environment variable, and the link failed after this variable was set.
mkdir -p moved/bin moved/include/grinterop
cp "$nvcc" moved/bin
ln -s "$source"/include/grinterop/* "$source"/softcuda/include/grinterop/* moved/include/grinterop
ln -s "$source/softcuda/nvcc/include" moved/include/grinterop/nvcc
away moved 0 moved/bin/grinterop-nvcc
check no_runtime 1 env GR_NVCC_INCLUDE= GR_NVCC_LIBRARY="$work" moved/bin/grinterop-nvcc away.cu &&
    says err 'no libgrinterop-softcudart.so' "$work" GR_NVCC_LIBRARY
if [ -e "$runtime" ]; then
    echo 'int main() { kernel<<<1, 1>>>(); return cudaDeviceSynchronize(); }' >>away.cu
    # shellcheck disable=SC2046 # options, or nothing
    check build_libraries 0 env GR_NVCC_INCLUDE= GR_NVCC_LIBRARY= "$nvcc" $(sanitize) away.cu \
        -run -o away
fi

# ---- Options ----

# makes FILE NAME COMMAND...: like check, for a command that must create FILE.
makes() {
    rm -f "$1"
    made=$1
    shift
    name=$1
    shift
    check "$name" 0 "$@" && { [ -s "$made" ] || fail "$made not created"; }
}

makes one.o object given -c one.cu
makes two.o name given -c one.cu -o two.o
check long_names 0 "$nvcc" --compile --define-macro=VALUE=2 --include-path headers one.cu \
    --output-file=three.o --std=c++17 --optimize 3
check gpu_options 0 given -c one.cu -arch=sm_90 -gencode arch=compute_80,code=sm_80 \
    --generate-code=arch=compute_90,code='[compute_90,sm_90]' -Xptxas -v,-O3 -maxrregcount=32 \
    -use_fast_math --expt-relaxed-constexpr --expt-extended-lambda -lineinfo -m64 -std=c++11 \
    --ptxas-options=-v -cudart shared -ccbin "$NVCC_CCBIN" -Wno-deprecated-gpu-targets \
    -diag-suppress 177 --threads 2
check debug 0 given -g -G -c one.cu
check compiler_options 0 given -c one.cu -Xcompiler -Wall,-Wextra,-Werror \
    --compiler-options '-fPIC -O1'
# hands NAME TEXT WORD...: -Xcompiler TEXT must pass these words to the compiler in this order.
hands() {
    text=$2
    check "$1" 0 given -dryrun -c one.cu -Xcompiler "$text" || return
    shift 2
    says err " $* "
}
hands parts '-Wall,-Wextra' -Wall -Wextra
hands empty_parts ',-Wall,,-Wextra,' -Wall -Wextra
hands quoted_parts ',"-Wall","-Wextra"' -Wall -Wextra
hands quoted_blank "-DTEXT='a b',-Wall" "'-DTEXT=a b'" -Wall
hands quoted_comma '-DTEXT="a,b"' "'-DTEXT=a b'"
hands kept_comma '-fsanitize=address\,undefined' -fsanitize=address,undefined
hands escaped_quotes ',\"-Wall\",-Wextra' -Wall -Wextra
hands text_in_quotes '-DTEXT=\\\"a\\\"' "'-DTEXT=\"a\"'"
check undefined bad given -UVALUE -c one.cu && says err 'no VALUE'
check preprocess 0 given -E one.cu && says out '<<<1, 1>>>'
check rule 0 given -MM one.cu && says out 'one.o:' headers/one.h
check whole_rule 0 given -M one.cu && says out cuda_runtime_api.h
check rule_file 0 given -MD -MF one.d -MT target -c one.cu -o one.o && says one.d 'target:' one.h
check rule_beside 0 given -MMD -c one.cu -o beside.o && says beside.d 'beside.o:' one.h
echo '-DVALUE="(2 + 1)" -Iheaders' >flags.txt
check option_file 0 "$nvcc" -optf flags.txt -c one.cu
check response_file 0 "$nvcc" @flags.txt -c one.cu
check environment 0 env NVCC_APPEND_FLAGS="$flags" "$nvcc" -c one.cu
cp one.cu one.txt
check language 0 given -x cu -c one.txt -o text.o
echo 'int plain(void) { int class = 1; return class; }' >plain.c
check c_file 0 "$nvcc" -c plain.c
echo 'int host() { return 0; }' >host.cpp
check cpp_file 0 "$nvcc" -c host.cpp
check dry_run 0 given -dryrun -c one.cu -o never.o && says err '#$ ' never.o
if [ -e never.o ]; then fail "dry run created a file"; fi
makes kept/one.cpp4.ii keep given --keep --keep-dir kept -c one.cu
mkdir placed
makes placed/one.o folder given -odir placed -c one.cu
makes named.o folder_named given --output-directory=placed -c one.cu -o named.o
check folder_rule 0 given -odir placed -M one.cu && says out 'placed/one.o:'
check clean 0 given -clean -odir placed -c one.cu
if [ -e placed/one.o ]; then fail "placed/one.o not removed"; fi
check level 0 given -dryrun -O 3 -c one.cu && says err ' -O3 '
check seed 0 given -dryrun -frandom-seed 7 -c one.cu && says err ' -frandom-seed=7 '
check to_compiler 0 given -dryrun -forward-unknown-to-host-compiler -march=native -c one.cu &&
    says err ' -march=native '
check archiver 0 given -dryrun -lib -arbin other-ar -Xarchive T one.o &&
    says err 'other-ar rcs T a.a'
makes more.o relocatable given -r one.o -o more.o
check version 0 "$nvcc" --version && says out 'release '
check help 0 "$nvcc" --help && says out --cuda-include -dc --maxrregcount
if [ "$(find between -mindepth 1)" != "" ]; then fail "leaves files behind"; fi
# Catches: a single quote within single quotes was not escaped.
check dry_quotes 0 given -dryrun -c one.cu "-DTEXT=it's" && says err "'-DTEXT=it'\\''s'"

# ---- A compiler with much output, and one that does not finish ----

echo '__global__ void kernel() {}' >plain.cu
cat >chatty <<'END'
#!/bin/sh
if [ "$1" = -E ]; then
    yes 'plain.cu:1:1: warning: a line such as a compiler has them' | head -n 80000 >&2
fi
while [ $# -gt 0 ]; do
    if [ "$1" = -o ]; then : >"$2"; fi
    shift
done
END
printf '#!/bin/sh\necho $$ >started.new && mv started.new started\nexec sleep 100\n' >patient
chmod +x chatty patient
# Catches: for 4.7 MB of warnings, grinterop-nvcc needed 2.7 GB and half a minute.
if [ "${GR_SANITIZER:-no}" != no ]; then
    skip many_warnings 'a sanitizer needs more memory than the limit'
else
    check many_warnings 0 sh -c 'ulimit -v 400000 && exec "$@" 2>said' sh "$nvcc" -ccbin ./chatty \
        -c plain.cu -o plain.o
    if [ "$(grep -c 'warning: a line' said)" != 80000 ]; then fail "warnings lost"; fi
fi
# interrupt SIGNAL STATUS: interrupts grinterop-nvcc. Catches: SIGTERM left a folder in the
# temporary directory.
interrupt() {
    begin "interrupt_$1"
    rm -f started
    # Without job control, a shell starts background commands with SIGINT ignored.
    env --default-signal="$1" "$nvcc" -ccbin ./patient -c plain.cu 2>err &
    for _ in $(seq 300); do
        if [ -e started ]; then break; fi
        sleep 0.1
    done
    kill -s "$1" $!
    wait $!
    code=$?
    if [ $code != "$2" ]; then fail "exit status $code instead of $2"; fi
    if kill -0 "$(cat started)" 2>/dev/null; then fail "the compiler still runs"; fi
    if [ "$(find between -mindepth 1)" != "" ]; then fail "leaves files behind"; fi
}
interrupt HUP 129
interrupt INT 130
interrupt TERM 143

# The manual page must contain every option of the help.
begin page
"$nvcc" --help | sed -n 's/^  \(-[-A-Za-z]*\),.*/\1/p' | while read -r option; do
    sed 's/\\-/-/g' "$source/softcuda/nvcc/grinterop-nvcc.1" | grep -qF -- "B$option" ||
        echo "$option"
done >missing
if [ -s missing ]; then fail "missing on the manual page:" "$(cat missing)"; fi

# grinterop-nvcc must accept every option of nvcc, with a value if nvcc requires one. The word
# -gr-value follows the option: it becomes the value, or is refused as an unknown option.
knows() {
    given -dryrun -c one.cu "$1" -gr-value 2>said
    case $1:$2 in
    --optimize:* | -O:*) ;; # plain -O is an option of the host compiler
    --dependency-output: | -MF: | --qpp-config: | -qpp-config:) # take a value, contrary to the help
        ! grep -qE 'no option|needs a value' said
        ;;
    --forward-unknown-*: | -forward-unknown-*:) ! grep -q 'no option' said ;;
    *:) grep -qE 'no option -gr-value|GPU code|lists the GPUs' said ;;
    *) ! grep -qE 'no option|needs a value' said ;;
    esac
}
compare() {
    "$real" --help | sed -n 's/^\(--*[-A-Za-z0-9_]*\)\( [^(]*\)* *(\(-[^)]*\)) *$/\1 \3 \2/p' |
        while read -r long short value; do
            echo "$long" "$short" >>asked
            for option in "$long" "$short"; do
                knows "$option" "$value" || echo "$option"
            done
        done
}
real=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$real" ]; then
    skip nvcc_options "needs nvcc to compare with"
else
    begin nvcc_options
    compare >missing
    if ! says asked --clean-targets --optimize --maxrregcount; then
        : # could not parse the help of nvcc
    elif [ -s missing ]; then
        fail "options handled differently from nvcc:" "$(cat missing)"
    fi
fi

# ---- Kernels that run as rows of many blocks ----

cat >wanted <<'END'
apply: guard line span
backwards: block by block
between: guard line span
counted: guard
either: guard line
first_threads: guard
line_casts: guard line span
line_changes: guard line span
line_int: guard line span
line_of_rows: line
line_size: guard line span
line_swapped: guard line span
line_unguarded: line
line_used_twice: guard line span
narrow: guard line
other_width: block by block
outside: guard line
own_slot: block by block
places: block by block
rounded: block by block
shared_scratch: guard
stride_breaks: line
stride_chain: guard line stride
stride_class: line
stride_counts: line
stride_ends: guard line stride
stride_far: guard line stride
stride_first: line
stride_hands_on: line
stride_named: line
stride_plain: guard line stride
stride_skips: line
transposes: guard
twice_block: block by block
twice_thread: block by block
watched: guard
with_lambda: block by block
wraps: guard line
END
# kinds FILE: prints the launch flags (softcuda/nvcc/launch_flags.h) of the kernels in the kept
# file.
kinds() {
    sed -n 's/.*return "\([a-z_]*\)"; } }; ::gr_cuhost::launch<\([0-9]*\)u.*/\1 \2/p' "$1" |
        while read -r name bits; do
            kind=
            if [ $((bits & 8)) != 0 ]; then kind="$kind guard"; fi
            if [ $((bits & 16)) != 0 ]; then kind="$kind line"; fi
            if [ $((bits & 32)) != 0 ]; then kind="$kind span"; fi
            if [ $((bits & 64)) != 0 ]; then kind="$kind stride"; fi
            echo "$name:${kind:- block by block}"
        done | sort
}
mkdir -p rows_kept
makes rows_kept/rows.cpp4.ii rows_kept "$nvcc" --keep --keep-dir rows_kept -c "$programs/rows.cu"
kinds rows_kept/rows.cpp4.ii >found
check rows_are 0 diff wanted found

# ---- Debug information ----

if ! command -v objdump >/dev/null; then
    skip lines "needs objdump"
else
    check lines 0 given -G -c one.cu && objdump --dwarf=decodedline one.o >decoded
    if ! grep -E '^(\./)?one\.cu +7 ' decoded >/dev/null; then
        fail "no code for line 7 of one.cu"
    fi
    if grep -E 'cpp4|cpp1' decoded >/dev/null; then fail "names intermediate files"; fi
    # gdb shows the parameters of a function that is called, but not of an always_inline function.
    check called_kernel 0 nm -C one.o && says out '::operator()('
fi

# ---- A Makefile ----

cat >Makefile <<'END'
NVCC = nvcc
NVCCFLAGS = -O3 -arch=sm_70 -ccbin $(HOST) -m64 $(FLAGS)
GENCODE = -gencode arch=compute_70,code=sm_70
one.o: one.cu
	$(NVCC) $(NVCCFLAGS) $(GENCODE) -Xcompiler -fPIC -o $@ -c $<
END
rm -f one.o
check makefile 0 "${MAKE:-make}" -s NVCC="$nvcc" HOST="$NVCC_CCBIN" FLAGS="$flags" one.o

# ---- A CMake project ----

if ! command -v cmake >/dev/null || [ ! -e "$runtime" ]; then
    skip cmake "needs cmake and $runtime"
elif [ "${GR_SANITIZER:-no}" != no ]; then
    skip cmake "the compiler checks of CMake do not link a sanitizer"
else
    mkdir project
    cp "$programs/wave.cu" "$programs/expect.h" project
    cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(wave LANGUAGES CXX CUDA)
add_executable(wave wave.cu)
END
    check configure 0 cmake -S project -B project/build -DCMAKE_CUDA_COMPILER="$nvcc" \
        -DCMAKE_CXX_COMPILER="$NVCC_CCBIN" -DCMAKE_CUDA_ARCHITECTURES=75 \
        -DCMAKE_BUILD_RPATH="$tools/.libs" &&
        check build 0 cmake --build project/build && check built 0 project/build/wave
fi

ended
