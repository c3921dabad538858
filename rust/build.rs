// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds libgrinterop: in GRINTEROP_LIB_DIR, or by pkg-config.
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=GRINTEROP_LIB_DIR");
    println!("cargo:rustc-link-lib=grinterop");
    if let Ok(folder) = env::var("GRINTEROP_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        return;
    }
    let found = Command::new("pkg-config").args(["--variable=libdir", "grinterop"]).output();
    if let Ok(found) = found {
        let folder = String::from_utf8_lossy(&found.stdout);
        println!("cargo:rustc-link-search=native={}", folder.trim());
    }
}
