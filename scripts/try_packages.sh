#!/usr/bin/env bash
# try_packages.sh FOLDER: tries the .deb and the tar.gz of FOLDER, each in a bare Debian 12, like a new user.
# Needs root and debootstrap. `./dev package --try` calls it.
set -euo pipefail
packages=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
readonly SHAPE='f32[3,5]{1,0:T(2,2)}'

source "$root/scripts/bare_debian.sh"
scratch=$(mktemp -d)
debian=$scratch/debian
remove_scratch() {
  remove_debian "$debian"
  rm -rf --one-file-system "$scratch"
}
trap remove_scratch EXIT

# use_command KASHI: what it prints, and that what it reads and writes is there.
use_command() {
  in_debian "$debian" "$1" shape "$SHAPE"
  in_debian "$debian" "$1" version | grep '^compiled engine: yes'
  printf 'ENTRY e {\n  a = f32[2] parameter(0)\n  ROOT r = f32[2] negate(a)\n}\n' >"$debian/m.hlo"
  in_debian "$debian" "$1" run m.hlo --random ones
  in_debian "$debian" "$1" convert m.hlo -o m.pb
  in_debian "$debian" "$1" verify m.pb
}

make_debian "$debian"
printf -- '-- tar.gz, in a folder of its own, with no package installed\n'
mkdir "$debian/anywhere"
tar -xzf "$packages"/kashi-*.tar.gz -C "$debian/anywhere" --strip-components=1
use_command /anywhere/bin/kashi
rm -rf "$debian/anywhere"

printf -- '\n-- .deb\n'
cp "$packages"/kashi_*.deb "$debian/kashi.deb"
in_debian "$debian" apt-get -q update >"$scratch/log" 2>&1
SECONDS=0
in_debian "$debian" apt-get -yq install --no-install-recommends ./kashi.deb >>"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; exit 1; }
printf 'installed in %d s\n' "$SECONDS"
use_command kashi
in_debian "$debian" test -s /usr/share/man/man1/kashi.1 -o -s /usr/share/man/man1/kashi.1.gz
in_debian "$debian" test -s /usr/share/bash-completion/completions/kashi

printf -- '\n-- a program that uses the libraries of the .deb\n'
in_debian "$debian" apt-get -yq install --no-install-recommends g++ cmake ninja-build pkgconf libabsl-dev libhwy-dev libre2-dev \
  libprotobuf-dev protobuf-compiler liblapack-dev libblas-dev >>"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; exit 1; }
mkdir -p "$debian/kashi/tests"
cp -r "$root/scripts" "$debian/kashi/"
cp -r "$root/tests/install" "$debian/kashi/tests/"
in_debian "$debian" kashi/scripts/use_kashi.sh kashi/scratch "" ""
printf '\nboth packages work\n'
