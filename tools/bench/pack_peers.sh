#!/usr/bin/env bash
# Downloads the peers that bench.py compares with and cuts them into folders that can be carried one by one.
# SPDX-License-Identifier: MIT
#
# usage: pack_peers.sh WORK OUT [PEER...]
#
# PEER is fa3, fa4 or tilelang (default: all). OUT/1, OUT/2, ... hold at most $FOLDER_MIB each (default 56); unpack_peers.sh
# puts them together on a machine without network. $PYTHON_VERSION is that machine's (default 3.12), x86-64 Linux. Needs pip and xz.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '5,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1" "$2"
work=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
shift 2
peers=("${@:-}")
[ -n "${peers[0]}" ] || peers=(fa3 fa4 tilelang)
part_mib=14 folder_mib=${FOLDER_MIB:-56}

declare -A packages=(
  [fa3]="tokenspeed-fa3==3.0.0.post20260810"
  [fa4]="flash-attn-4==4.0.0b36 nvidia-cutlass-dsl==4.8.1 nvidia-cutlass-dsl-libs-core==4.8.1 nvidia-cutlass-dsl-libs-base==4.8.1
         nvidia-cutlass-dsl-libs-cu13==4.8.1 quack-kernels==0.6.5 apache-tvm-ffi==0.1.12 torch-c-dlpack-ext==0.1.5 einops==0.8.2"
  [tilelang]="tilelang==0.1.15 z3-solver==4.15.4.0 apache-tvm-ffi==0.1.12 torch-c-dlpack-ext==0.1.5"
)
# What a benchmark does not use: static archives, a profiler, a second copy of a library, a program.
unused=(--exclude='*.a' --exclude='*/iket/profiler' --exclude='libz3.so.4.15' --exclude='*.data/data/bin')

platforms=()
for tag in manylinux_2_{35,34,31,28,27,24,17}_x86_64 manylinux2014_x86_64 manylinux1_x86_64; do platforms+=(--platform "$tag"); done

for peer in "${peers[@]}"; do
  [ -n "${packages[$peer]:-}" ] || { echo "pack_peers: unknown peer '$peer', expected fa3, fa4 or tilelang" >&2; exit 2; }
  wheels=$work/$peer/wheels site=$work/$peer/site
  mkdir -p "$wheels" "$site"
  # shellcheck disable=SC2086 # one word per package
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --implementation cp \
    --python-version "${PYTHON_VERSION:-3.12}" "${platforms[@]}" -d "$wheels" ${packages[$peer]}
  for wheel in "$wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$site"; done
  rm -f "$work/$peer".tar.xz.*
  tar -C "$site" "${unused[@]}" -cf - . | xz -T0 -6 -c | split -d -a 2 -b "${part_mib}M" - "$work/$peer.tar.xz."
done

# A part's name says how many there are, so that the other side knows when an archive is complete.
rm -rf "$out"/[0-9]*
folder=1 used=0
mkdir -p "$out/1"
for peer in "${peers[@]}"; do
  parts=("$work/$peer".tar.xz.*)
  for part in "${parts[@]}"; do
    bytes=$(stat -c %s "$part")
    if ((used > 0 && used + bytes > folder_mib << 20)); then folder=$((folder + 1)) used=0; mkdir -p "$out/$folder"; fi
    cp "$part" "$out/$folder/$(basename "$part")-of-${#parts[@]}"
    used=$((used + bytes))
  done
done
for folder in "$out"/[0-9]*; do (cd "$folder" && sha256sum -- *-of-* >SHA256SUMS); done
du -sh "$out"/[0-9]*
