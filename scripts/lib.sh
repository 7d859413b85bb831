# shellcheck shell=bash disable=SC2034  # set here, used by those who source this
# Shared by the scripts beside it: sourced, not run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

packages_to_build="clang-19 libc++-19-dev libc++abi-19-dev lld-19 cmake ninja-build pkg-config libsqlite3-dev
  libxxhash-dev libzstd-dev nlohmann-json3-dev libcli11-dev"
# python3-venv and ca-certificates: for NVRTC's wheel, where there is no toolkit.
packages_for_wheels="python3-venv ca-certificates"
packages_to_test="g++ googletest libbenchmark-dev libclang-rt-19-dev python3 ccache sqlite3"

say() { printf '\n== %s\n' "$*"; }

fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# quietly LOG COMMAND…: shows the command's output only if it fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    fail "failed: $* (whole output: $log)"
  }
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# install_packages NAME…: installs what is missing of Debian's or Ubuntu's packages; touches nothing when all is there.
install_packages() {
  local missing=() name
  command -v dpkg-query >/dev/null || fail "this is neither Debian nor Ubuntu: install the counterparts of: $*"
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    fail "missing packages, and neither root nor sudo to install them: apt-get install ${missing[*]}"
  fi
  say "Installing ${missing[*]}"
  quietly build/log/apt.txt as_root apt-get update
  quietly build/log/apt.txt as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

has_toolkit() {
  local folder
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    if [ -n "$folder" ] && compgen -G "$folder/lib64/libnvrtc.so*" >/dev/null; then
      return 0
    fi
  done
  return 1
}

# Sets nvrtc_dirs: the folder that the build is told about; empty where Kiln finds NVRTC by itself: the file that
# KILN_NVRTC names, or an installed toolkit. Else, or when KILN_NVRTC_VERSION asks for a version, NVRTC's wheel is
# installed inside the build folder.
find_nvrtc() {
  nvrtc_dirs=""
  if [ -n "${KILN_NVRTC:-}" ] || { [ -z "${KILN_NVRTC_VERSION:-}" ] && has_toolkit; }; then
    return 0
  fi
  local version=${KILN_NVRTC_VERSION:-13.0.88} package=nvidia-cuda-nvrtc
  local venv=$root/build/nvrtc-$version
  case $version in
    11.* | 12.*) package=nvidia-cuda-nvrtc-cu${version%%.*} ;;
  esac
  if [ ! -f "$venv/complete" ]; then
    # shellcheck disable=SC2086  # a list of words
    install_packages $packages_for_wheels
    say "No CUDA toolkit here: installing NVRTC $version from PyPI into ${venv#"$root/"}"
    rm -rf "$venv"
    quietly build/log/venv.txt python3 -m venv "$venv"
    quietly build/log/pip.txt "$venv/bin/pip" install --no-deps "$package==$version"
    touch "$venv/complete"
  fi
  local library
  library=$(find "$venv/lib" -name 'libnvrtc.so.*' -print -quit)
  [ -n "$library" ] || fail "package $package $version holds no libnvrtc: choose another version with KILN_NVRTC_VERSION"
  nvrtc_dirs=$(dirname "$library")
}

# configure PRESET FOLDER [CMAKE_ARGUMENT…]
configure() {
  local preset=$1 folder=$2
  shift 2
  if command -v ccache >/dev/null; then
    # Results are shared by all clones and build folders.
    export KILN_COMPILER_LAUNCHER=${KILN_COMPILER_LAUNCHER-ccache} CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    # Precompiled headers; and no preprocessing beforehand: what a file includes is what the compiler writes for ninja.
    export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
  fi
  quietly "build/log/configure-${folder##*/}.txt" \
    cmake --preset "$preset" -B "$folder" -DKILN_NVRTC_DIRS="$nvrtc_dirs" "$@"
}
