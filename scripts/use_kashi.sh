#!/usr/bin/env bash
# use_kashi.sh SCRATCH PACKAGE PKG-CONFIG: builds tests/install, a project of somebody else's, in the folder SCRATCH, and
# runs its programs. PACKAGE is the folder of kashi-config.cmake, PKG-CONFIG that of kashi.pc: those of an installation,
# or the build folder for both. "" for both: CMake and pkg-config find them where packages of the system are.
set -euo pipefail
scratch=$1 package=$2 pkgconfig=$3
project=$(dirname "${BASH_SOURCE[0]}")/../tests/install

mkdir -p "$scratch"
# A path in CMAKE_C_COMPILER must not disturb a project of C++ alone.
cmake -S "$project" -B "$scratch" -G Ninja -DCMAKE_C_COMPILER=cc ${package:+"-Dkashi_DIR=$package"} >"$scratch/log" 2>&1 ||
  { cat "$scratch/log" >&2; exit 1; }
cmake --build "$scratch"
"$scratch/api" >/dev/null
"$scratch/uses_kashi"
"$scratch/uses_compat"
# has PROGRAM SHOWN: runs it where it was built, and compares its output.
has() {
  if [[ -x $scratch/$1 ]]; then
    "$scratch/$1" | grep -xF "$2"
  else
    printf '%s: skipped: its library is not in this Kashi, or the libraries that it needs are not here\n' "$1"
  fi
}
has uses_lapack 'f64[2] {1, 3}'
has uses_cpu '2 5 10 17'

# Without CMake.
read -ra flags < <(PKG_CONFIG_PATH=$pkgconfig pkg-config --cflags --libs kashi)
programs=(uses_kashi)
if [[ -x $scratch/uses_lapack ]]; then programs+=(uses_lapack); fi
for program in "${programs[@]}"; do
  g++ -std=c++17 "$project/$program.cc" "${flags[@]}" -o "$scratch/$program-by-pkg-config"
  "$scratch/$program-by-pkg-config"
done
