# What ./dev does with packages.txt, on Debian: which packages of a group are missing, and installing them. ./dev
# sources it; it needs `die` and `step` of there.

# This file changes when packages are installed or removed. On other systems there is none.
readonly PACKAGE_DATABASE=${DPKG_ADMINDIR:-/var/lib/dpkg}/status

# packages_of GROUP…: the packages of these [group] headings in packages.txt.
packages_of() {
  local line group=
  while read -r line; do
    line=${line%%#*}
    line=${line//[[:space:]]/}
    case $line in
      '') ;;
      '['*']') group=${line:1:-1} ;;
      *) [[ " $* " == *" $group "* ]] && printf '%s\n' "$line" ;;
    esac
  done <packages.txt
  return 0
}

missing_packages() {
  local package
  local -A installed=()
  while read -r package; do
    installed[$package]=1
  done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p')
  for package in $(packages_of "$@"); do
    [[ -n ${installed[$package]:-} ]] || printf '%s\n' "$package"
  done
}

# run_apt ROOT-PREFIX… -- PACKAGE…
run_apt() {
  local prefix=()
  while [[ $1 != -- ]]; do
    prefix+=("$1")
    shift
  done
  shift
  local apt=("${prefix[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update
  "${apt[@]}" install --no-install-recommends "$@"
}

# install_packages GROUP…: does nothing if all packages are installed.
install_packages() {
  [[ -z ${KASHI_NO_SETUP:-} ]] || return 0
  command -v dpkg-query >/dev/null ||
    die "this is not Debian: install the equivalents of packages.txt, then set KASHI_NO_SETUP=1"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID == 0)); then
    step "setup: installing ${missing[*]}" run_apt -- "${missing[@]}"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    step "setup: installing ${missing[*]}" run_apt sudo -n -- "${missing[@]}"
  else
    printf 'dev: packages are missing, and installing them needs root. Run:\n' >&2
    printf '  apt-get update && apt-get install --no-install-recommends %s\n' "${missing[*]}" >&2
    exit 1
  fi
}
