#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Print the path of a free-threaded CPython: one that is on PATH, else one built from Debian's source of
# python3.13 (about three minutes on two cores, 97 MB) and kept for the next run.
#
# The source comes from the trixie release through apt with list and cache folders of its own, so that
# this machine's package sources stay as they are, and with Debian's signatures checked.
#   FREE_THREADED_PYTHON   an interpreter to use instead
#   FREE_THREADED_PREFIX   where a built one is kept (default: ~/.cache/fastcrypt/python3.13t)
set -euo pipefail

prefix=${FREE_THREADED_PREFIX:-${XDG_CACHE_HOME:-$HOME/.cache}/fastcrypt/python3.13t}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
  echo "no free-threaded Python: $*" >&2
  echo "  install python3.13t or newer, name one in FREE_THREADED_PYTHON, or on Debian:" >&2
  echo "  apt-get install libssl-dev zlib1g-dev libffi-dev libbz2-dev xz-utils" >&2
  exit 1
}

is_free_threaded() {
  "$1" -c 'import sys, sysconfig; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))' 2>/dev/null
}

for python in "${FREE_THREADED_PYTHON:-}" "$prefix/bin/python3.13t" python3.13t python3.14t python3.15t; do
  if [ -n "$python" ] && command -v "$python" >/dev/null && is_free_threaded "$python"; then
    command -v "$python"
    exit 0
  fi
done

command -v apt-get >/dev/null || fail "there is no apt-get to bring Debian's source"
for header in openssl/ssl.h zlib.h ffi.h bzlib.h; do
  echo "#include <$header>" | ${CC:-cc} -E - >/dev/null 2>&1 || fail "the header $header is missing"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,source}
echo "deb-src [signed-by=$keyring] $mirror trixie main" >"$work/sources.list"
apt_options=(
  -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root
)
{
  apt-get "${apt_options[@]}" update -qq
  # The tarball alone: Debian's patches take ensurepip out.
  (cd "$work/source" && apt-get "${apt_options[@]}" source -qq --download-only python3.13)
  tar -C "$work/source" -xf "$work"/source/python3.13_*.orig.tar.xz
} >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; fail "Debian's source did not arrive"; }

echo "building a free-threaded Python in $prefix (about three minutes)" >&2
{
  cd "$work"/source/Python-3.13*/
  ./configure --prefix="$prefix" --disable-gil --disable-test-modules --with-ensurepip=no
  make -j"$(nproc)"
  make install
} >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; fail "the build failed"; }
is_free_threaded "$prefix/bin/python3.13t" || fail "what was built has a GIL"
echo "$prefix/bin/python3.13t"
