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
  other_library)
    # What Kiln was not built with.
    if grep -q 'kiln_STANDARD_LIBRARY "libc++"' "$(find "$prefix" -name kiln-config.cmake)"; then
      other=(-DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_FLAGS= -DCMAKE_EXE_LINKER_FLAGS=) names='libc[+][+], and .* libstdc[+][+]:'
    elif command -v clang++-19 >/dev/null; then
      other=(-DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_CXX_FLAGS=-stdlib=libc++) names='libstdc[+][+], and .* libc[+][+]:'
    else
      exit 77
    fi
    rm -rf "$folder"
    configure=("$cmake" -S "$here/consumer" -B "$folder" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" "${other[@]}")
    if said=$("${configure[@]}" 2>&1); then
      echo "was configured, with: ${other[*]}"
      exit 1
    fi
    tr -s '\n ' ' ' <<<"$said" | grep "built with $names" | grep KILN_ANY_STANDARD_LIBRARY=ON
    "${configure[@]}" -DKILN_ANY_STANDARD_LIBRARY=ON
    ;;
  c)
    # No C++ anywhere: neither a compiler nor a standard library.
    rm -rf "$folder"
    "$cmake" -S "$here/c_consumer" -B "$folder" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix"
    "$cmake" --build "$folder"
    "$folder/consumer"
    ;;
  # This compiles all of the library once more: beside the build folder, from where sources have the same relative paths,
  # so that ccache knows them where no headers are precompiled.
  subdirectory)
    folder=$build-as-subdirectory
    consume "$@" -DKILN_SOURCE="$(dirname "$(dirname "$here")")"
    ;;
  pkgconfig)
    mkdir -p "$folder"
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name kiln.pc)")
    export PKG_CONFIG_PATH
    read -ra flags <<<"$(pkg-config --cflags --libs kiln)"
    printf '#include <kiln/kiln.h>\nint main(void) { return kiln_version()[0] == 48 ? 0 : 1; }\n' >"$folder/main.c"
    cc "$folder/main.c" -o "$folder/main" "${flags[@]}" -Wl,-rpath,"$(pkg-config --variable=libdir kiln)"
    "$folder/main"
    # Folders that are given whole: the file says where they are as seen from its own.
    whole=$folder/whole
    rm -rf "$whole"
    "$cmake" -S "$(dirname "$(dirname "$here")")" -B "$whole/build" -G Ninja "$@" -DKILN_BUILD_TESTS=OFF -DKILN_BUILD_CLI=OFF \
      -DKILN_BUILD_BENCHMARKS=OFF -DKILN_BUILD_EXAMPLES=OFF -DCMAKE_INSTALL_LIBDIR=/whole/libraries \
      -DCMAKE_INSTALL_INCLUDEDIR=/whole/headers >/dev/null
    mkdir -p "$whole/libraries/pkgconfig"
    cp "$whole/build/kiln.pc" "$whole/libraries/pkgconfig"
    export PKG_CONFIG_PATH=$whole/libraries/pkgconfig
    for variable in libdir=libraries includedir=headers; do
      found=$(realpath -m "$(pkg-config --variable="${variable%=*}" kiln)")
      [ "$found" = "$whole/${variable#*=}" ] || { echo "${variable%=*} is $found"; exit 1; }
    done
    ;;
esac
