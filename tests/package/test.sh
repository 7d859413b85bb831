#!/bin/bash
# test.sh CASE BUILD_FOLDER CMAKE [CMAKE_ARGUMENT…]: builds the consumer one way in BUILD_FOLDER/package and runs it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
case=$1 build=$2 cmake=$3
shift 3
prefix=$build/package/installed
folder=$build/package/$case

consume() {
  rm -rf "$folder"
  "$cmake" -S "$here/consumer" -B "$folder" -G Ninja "$@"
  "$cmake" --build "$folder"
  "$folder/consumer"
}

case $case in
  install)
    rm -rf "$prefix"
    "$cmake" --install "$build" --prefix "$prefix"
    "$prefix/bin/kiln" --version
    ;;
  static | shared) consume "$@" -DCMAKE_PREFIX_PATH="$prefix" -DKILN_TARGET="kiln::$case" ;;
  subdirectory) consume "$@" -DKILN_SOURCE="$(dirname "$(dirname "$here")")" ;;
  pkgconfig)
    mkdir -p "$folder"
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name kiln.pc)")
    export PKG_CONFIG_PATH
    read -ra flags <<<"$(pkg-config --cflags --libs kiln)"
    printf '#include <kiln/kiln.h>\nint main(void) { return kiln_version()[0] == 48 ? 0 : 1; }\n' >"$folder/main.c"
    cc "$folder/main.c" -o "$folder/main" "${flags[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir kiln)"
    "$folder/main"
    ;;
esac
