#!/usr/bin/env bash
# try_readme.sh [--reverse] [--ccache FOLDER]: does in a bare Debian 12, in one clone of this repository, what a newcomer
# does: the commands, the C++ program and the Python session of README.md, and ./dev test. With --reverse in the opposite
# order. The commit that is checked out is cloned, without what is not committed.
#
# It fails if a command fails, or if a later command compiles again what an earlier one did. Its last output is a table
# of the steps. Needs root and debootstrap. --ccache lets the compiler of there use a cache of this machine.
set -euo pipefail
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
source "$root/scripts/bare_debian.sh"
reverse='' cache=''
readonly cache_in_debian=/var/cache/ccache
while (($#)); do
  case $1 in
    --reverse) reverse=yes ;;
    --ccache) cache=$2 && shift ;;
    *) printf 'try_readme.sh: unknown argument %s\n' "$1" >&2 && exit 2 ;;
  esac
  shift
done

scratch=$(mktemp -d)
debian=$scratch/debian
steps=()
report() {
  if [[ -n $cache ]] && mountpoint -q "$debian$cache_in_debian"; then umount "$debian$cache_in_debian"; fi
  remove_debian "$debian"
  rm -rf --one-file-system "$scratch"
  printf '\n  seconds   processors  step\n'
  printf '%s\n' "${steps[@]}"
}
trap report EXIT

# The processor time of the programs that this script has run, as Linux counts it.
processor_seconds() {
  local fields
  read -ra fields <"/proc/$$/stat"
  printf '%d' $(((fields[15] + fields[16]) / $(getconf CLK_TCK)))
}
# step COMMAND: in the clone.
step() {
  printf '\n$ %s\n' "$1"
  local start=$SECONDS work status=0
  work=$(processor_seconds)
  in_debian "$debian" env CCACHE_DIR="$cache_in_debian" bash -c "cd '$root' && $1" || status=$?
  steps+=("$(printf '%9d %12d  %s' $((SECONDS - start)) $(($(processor_seconds) - work)) "$1")")
  if ((status)); then
    steps+=("FAILED with status $status")
    exit 1
  fi
}
# The objects that are compiled, with their times.
objects() { (cd "$debian$root/build" && find . -name '*.o' -printf '%p %T@\n' | sort); }

make_debian "$debian"
in_debian "$debian" apt-get -qq update
if [[ -n $cache ]]; then
  in_debian "$debian" apt-get -yqq install --no-install-recommends ccache >/dev/null
  mkdir -p "$debian$cache_in_debian"
  mount --bind "$cache" "$debian$cache_in_debian"
fi
# At the same place as here, so that ccache knows its files.
mkdir -p "$debian$root"
git clone -q "$root" "$debian$root"

# The steps, in groups that can change places.
install=() package=()
while read -r command; do
  case $command in
    './dev package') package+=('./dev package --try') ;;
    apt-get*) package+=("$command") ;;
    *) install+=("$command") ;;
  esac
done < <(python3 "$root/tests/readme_test.py" install)
((${#install[@]} && ${#package[@]} == 2)) || { printf 'try_readme.sh: README.md has other commands now\n' >&2 && exit 1; }
package+=('python3 tests/readme_test.py cpp')
python=('./dev python' 'python3 tests/readme_test.py python --python .venv/bin/python')
if [[ -z $reverse ]]; then
  commands=("${install[@]}" './dev test' "${package[@]}" "${python[@]}")
else
  commands=("${python[@]}" "${package[@]}" './dev test' "${install[@]}")
fi

step "${commands[0]}"
objects >"$scratch/first"
for command in "${commands[@]:1}"; do step "$command"; done
objects >"$scratch/last"
# An object of another time was compiled again. A few may be: those that know which optional libraries there are.
again=$(join "$scratch/first" "$scratch/last" | awk '$2 != $3 { count++ } END { print count + 0 }')
steps+=("$again of $(wc -l <"$scratch/first") objects of the first step were compiled again")
((again <= 5)) || exit 1
