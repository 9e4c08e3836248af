#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fetch qemu-user 10 (statically linked) and print the path of its qemu-x86_64.
#
# The qemu-user of Debian 12 has no SHA-NI; that of Debian 13 has (neither has AVX-512: see bochs/).
# Nothing is installed and the system's apt state is not touched: the package comes from the Debian
# mirror that this machine is configured for, with lists and cache of our own, is checked against
# Debian's archive key, and is unpacked into $FASTCRYPT_CACHE (default ~/.cache/fastcrypt). Needs
# apt-get, dpkg and debian-archive-keyring; no root.
set -eu

suite=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
cache=${FASTCRYPT_CACHE:-$HOME/.cache/fastcrypt}/qemu10
qemu=$cache/root/usr/bin/qemu-x86_64

if [ -x "$qemu" ]; then
  echo "$qemu"
  exit 0
fi

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
  grep -m 1 '/debian/$') || {
  echo "fetch_qemu10: no Debian mirror in /etc/apt/sources.list*" >&2
  exit 1
}

mkdir -p "$cache/lists/partial" "$cache/apt/archives/partial"
cd "$cache"
echo "deb [arch=amd64 signed-by=$keyring] $mirror $suite main" >sources.list

apt() {
  apt-get -qq -o Dir::State::Lists="$cache/lists" -o Dir::Cache="$cache/apt" \
    -o Dir::Etc::SourceList="$cache/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

apt update >&2
apt download qemu-user:amd64 >&2
rm -rf unpacked root lists apt
mkdir unpacked
dpkg --fsys-tarfile qemu-user_*_amd64.deb |
  tar -x -C unpacked ./usr/bin/qemu-x86_64 ./usr/bin/qemu-aarch64
rm -f qemu-user_*_amd64.deb
mv unpacked root # last, so that an interrupted run leaves no half-filled root
"$qemu" --version >&2
echo "$qemu"
