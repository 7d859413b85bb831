#!/usr/bin/env bash
# bundle_run_test.sh SOURCE_DIR: scripts/bundle-run with programs that do nothing but end, or report, as told.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$1/scripts/bundle-run" "$folder/run"
mkdir "$folder/bench" "$folder/tests"
failures=0

# expect STATUS COMMAND…
expect() {
  local wanted=$1 status=0
  shift
  "$folder/run" "$@" >"$folder/output" 2>&1 || status=$?
  if [ $status != "$wanted" ]; then
    echo "run $*: status $status instead of $wanted"
    cat "$folder/output"
    failures=1
  fi
}

# program FOLDER/NAME COMMAND
program() {
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/$1"
  chmod +x "$folder/$1"
}

# benches WANTED STATUS…: benchmarks that end with these, in this order, and what the script ends with then.
benches() {
  local wanted=$1 name=a status
  shift
  rm -f "$folder"/bench/*
  for status in "$@"; do
    program "bench/$name" "exit $status"
    name+=a
  done
  expect "$wanted" bench
}

benches 0 0 0
benches 3 0 3
benches 3 3 0
benches 1 0 1
benches 1 1 3
benches 1 3 1
benches 1 3 139
benches 1 139 0

program tests/good 'echo "[  PASSED  ] 2 tests."'
expect 0 tests
program tests/none 'echo "[  SKIPPED ] 2 tests, listed below:"'
expect 0 tests
rm "$folder/tests/good"
expect 3 tests
program tests/crash 'kill -SEGV $$'
expect 1 tests
program tests/bad 'echo "[  FAILED  ] 1 test, listed below:"; exit 1'
expect 1 tests
expect 2 nothing
exit $failures
