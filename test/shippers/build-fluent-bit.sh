#!/usr/bin/env bash
# Builds Fluent Bit of a version from its public sources: build-fluent-bit.sh <version> <folder>
set -euo pipefail
source=$2/fluent-bit-$1
mkdir -p "$2"
[ -d "$source" ] ||
  git -c advice.detachedHead=false clone -q --depth 1 --branch "v$1" https://github.com/fluent/fluent-bit.git "$source"
# Only what the configuration of the component uses: the whole program takes an hour on two cores.
plugins=(FLB_IN_TAIL FLB_IN_EMITTER FLB_IN_STORAGE_BACKLOG FLB_FILTER_KUBERNETES FLB_FILTER_MULTILINE FLB_OUT_LOKI)
without=(FLB_KAFKA FLB_WASM FLB_LUAJIT FLB_PROXY_GO FLB_EXAMPLES FLB_SHARED_LIB FLB_CHUNK_TRACE FLB_ZIG
  FLB_CUSTOM_CALYPTIA FLB_BACKTRACE FLB_PROFILES FLB_UNICODE_ENCODER FLB_USE_SIMDUTF)
# Some files use headers that they do not include. These declare GNU's names only if _GNU_SOURCE precedes them.
cmake -S "$source" -B "$source/build" -DFLB_RELEASE=On -DFLB_IPO=Off -DFLB_MINIMAL=On \
  $(printf -- "-D%s=On " "${plugins[@]}") $(printf -- "-D%s=Off " "${without[@]}") \
  -DFLB_SQLDB=On -DFLB_PREFER_SYSTEM_LIB_SQLITE=On \
  -DCMAKE_C_FLAGS='-D_GNU_SOURCE -include string.h -include time.h'
cmake --build "$source/build" --target fluent-bit-bin --parallel "$(nproc)"
