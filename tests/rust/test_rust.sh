#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# test_rust.sh: the crate in rust/ with the library of this build: sys.rs is that of the headers,
# the tests pass, and the examples run. The stage languages runs it with the compiler of Debian.

suite=rust
# shellcheck source=tests/support/cases.sh
. "${GR_TEST_CASES:?run it by tests/run-test}"
source=$(cd "${top_srcdir:?}" && pwd) || exit 99
for tool in bindgen cargo rustfmt; do
    command -v $tool >/dev/null || cannot "$tool was not found (Debian: bindgen cargo rustfmt)"
done
export GRINTEROP_LIB_DIR="$built_in/.libs" CARGO_TARGET_DIR="$built_in/cargo"
export LD_LIBRARY_PATH="$built_in/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

enter_work_folder
# cargo writes Cargo.lock, and the source may be read-only.
mkdir docs && cp -R "$source/rust" . && cp "$source/docs/api.json" docs && cd rust || exit 99
chmod -R u+w .

check "sys.rs can be made" 0 env "$source/rust/make-sys"
begin "sys.rs is that of the headers: rust/make-sys >rust/src/sys.rs"
cmp out src/sys.rs >err || fail "$(diff out src/sys.rs | head -n 20)"
check "the code has the format of rustfmt" 0 \
    rustfmt --edition 2021 --check src/lib.rs tests/*.rs examples/*.rs build.rs
check "the tests pass" 0 cargo test --offline
check "the wave is drawn" 0 cargo run --offline --example wave wave.ppm
begin "the picture has 320 x 120 pixels"
[ "$(head -n 1 wave.ppm)" = "P6 320 120 255" ] || fail "$(head -n 1 wave.ppm)"
check "a Vulkan buffer is shared" 0 cargo run --offline --example vulkan_buffer
if [ $failures -gt $checks ]; then failures=$checks; fi
echo "$((100 * (checks - failures) / checks))%: Checks: $checks, Failures: $failures, Errors: 0"
[ $failures = 0 ]
