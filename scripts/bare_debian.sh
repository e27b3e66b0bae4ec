# A bare Debian 12 in a folder, for scripts that try things there as a new user would. They source it.
# Needs root and debootstrap.

# The first source of packages that this machine has.
mirror_of_machine() {
  sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' \
    /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -n 1
}

# make_debian FOLDER: nothing but what Debian calls minimal, and where this machine's packages come from.
make_debian() {
  local folder=$1 part
  ((EUID == 0)) || { printf '%s: making a bare Debian needs root\n' "$0" >&2; return 1; }
  debootstrap --variant=minbase --include=ca-certificates bookworm "$folder" "$(mirror_of_machine)" >"$folder.log" 2>&1 ||
    { tail -n 20 "$folder.log" >&2; return 1; }
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
  for part in resolv.conf hosts pip.conf; do
    if [[ -e /etc/$part ]]; then cp "/etc/$part" "$folder/etc/"; fi
  done
  mount -t proc proc "$folder/proc" # the loader asks it where the command lies
  mount --bind /dev "$folder/dev"
}

# in_debian FOLDER PROGRAM…: with nothing of this machine's environment.
in_debian() {
  chroot "$1" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "${@:2}"
}

# remove_debian FOLDER
remove_debian() {
  local part
  for part in dev proc; do
    if mountpoint -q "$1/$part"; then umount "$1/$part" || umount -l "$1/$part"; fi
  done
  rm -rf --one-file-system "$1" "$1.log"
}
