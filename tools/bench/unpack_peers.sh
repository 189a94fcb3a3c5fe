#!/usr/bin/env bash
# Puts folders that pack_peers.sh made together again, on the machine with the GPU.
# SPDX-License-Identifier: MIT
#
# usage: unpack_peers.sh FOLDER...
#
# May be called once per folder: parts are kept in $PEERS/parts (default /tmp/peers/parts), and an archive is unpacked into $PEERS/site
# as soon as all of its parts have arrived. bench.py looks for the peers there.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '5,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
peers=${PEERS:-/tmp/peers}
mkdir -p "$peers/parts" "$peers/site"
for folder in "$@"; do
  (cd "$folder" && sha256sum --quiet -c SHA256SUMS)
  cp "$folder"/*-of-* "$peers/parts/"
done

# Python's decompressor: xz need not be installed there.
unpack='import sys, tarfile; tarfile.open(fileobj=sys.stdin.buffer, mode="r|xz").extractall(sys.argv[1])'
running=()
for first in "$peers"/parts/*.00-of-*; do
  [ -e "$first" ] || continue
  peer=$(basename "${first%.tar.xz.*}") total=${first##*-of-}
  [ ! -e "$peers/$peer.unpacked" ] || continue
  parts=("$peers/parts/$peer".tar.xz.*-of-"$total")
  if ((${#parts[@]} < total)); then echo "$peer: ${#parts[@]} of $total parts"; continue; fi
  { cat "${parts[@]}" | python3 -W ignore -c "$unpack" "$peers/site" && touch "$peers/$peer.unpacked" && echo "$peer: unpacked"; } &
  running+=($!)
done
for process in "${running[@]}"; do wait "$process"; done
