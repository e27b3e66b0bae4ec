#!/usr/bin/env bash
# try_packages.sh FOLDER: tries the .deb and the tar.gz of FOLDER, each in a bare Debian 12, like a new user.
# Needs root and debootstrap. `./dev package --try` calls it.
set -euo pipefail
packages=$(realpath "$1")
tests=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../tests/install")
readonly SHAPE='f32[3,5]{1,0:T(2,2)}'

((EUID == 0)) || { printf 'try_packages: making a bare Debian needs root\n' >&2; exit 1; }
scratch=$(mktemp -d)
remove_scratch() {
  umount "$scratch/debian/proc" 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap remove_scratch EXIT

# The first source of packages that this machine has.
mirror_of_machine() {
  sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' \
    /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -n 1
}

# make_debian FOLDER: nothing but what Debian calls minimal, and where this machine's packages come from.
make_debian() {
  local folder=$1 part
  debootstrap --variant=minbase --include=ca-certificates bookworm "$folder" "$(mirror_of_machine)" >"$scratch/log" 2>&1 ||
    { tail -n 20 "$scratch/log" >&2; return 1; }
  rm -f "$folder/etc/apt/sources.list"
  for part in sources.list sources.list.d apt.conf.d auth.conf.d keyrings; do
    if [[ -e /etc/apt/$part ]]; then cp -rL "/etc/apt/$part" "$folder/etc/apt/"; fi
  done
  for part in /usr/share/keyrings /usr/local/share/ca-certificates /etc/ssl/certs; do
    if [[ -e $part ]]; then
      mkdir -p "$folder$part"
      cp -rL "$part/." "$folder$part/" 2>/dev/null || true
    fi
  done
  cp /etc/resolv.conf /etc/hosts "$folder/etc/"
  mount -t proc proc "$folder/proc" # the loader asks it where the command lies
}

in_debian() { chroot "$scratch/debian" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

# use_command KASHI: what it prints, and that what it reads and writes is there.
use_command() {
  in_debian "$1" shape "$SHAPE"
  printf 'ENTRY e {\n  a = f32[2] parameter(0)\n  ROOT r = f32[2] negate(a)\n}\n' >"$scratch/debian/m.hlo"
  in_debian "$1" run m.hlo --random ones
  in_debian "$1" convert m.hlo -o m.pb
  in_debian "$1" verify m.pb
}

make_debian "$scratch/debian"
printf -- '-- tar.gz, in a folder of its own, with no package installed\n'
mkdir "$scratch/debian/anywhere"
tar -xzf "$packages"/kashi-*.tar.gz -C "$scratch/debian/anywhere" --strip-components=1
use_command /anywhere/bin/kashi
rm -rf "$scratch/debian/anywhere"

printf -- '\n-- .deb\n'
cp "$packages"/kashi_*.deb "$scratch/debian/kashi.deb"
in_debian apt-get -q update >"$scratch/log" 2>&1
SECONDS=0
in_debian apt-get -yq install --no-install-recommends ./kashi.deb >>"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; exit 1; }
printf 'installed in %d s\n' "$SECONDS"
use_command kashi
in_debian test -s /usr/share/man/man1/kashi.1 -o -s /usr/share/man/man1/kashi.1.gz
in_debian test -s /usr/share/bash-completion/completions/kashi

printf -- '\n-- a program that uses the libraries of the .deb\n'
in_debian apt-get -yq install --no-install-recommends g++ cmake ninja-build pkgconf libabsl-dev libhwy-dev libprotobuf-dev \
  protobuf-compiler liblapack-dev libblas-dev >>"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; exit 1; }
cp -r "$tests" "$scratch/debian/program"
in_debian cmake -S program -B program/build -G Ninja >>"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" >&2; exit 1; }
in_debian cmake --build program/build
in_debian program/build/uses_kashi
in_debian program/build/uses_compat
in_debian sh -c 'g++ -std=c++17 program/uses_kashi.cc $(pkg-config --cflags --libs kashi) -o by_pkg_config && ./by_pkg_config'
printf '\nboth packages work\n'
