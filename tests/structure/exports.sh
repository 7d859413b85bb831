#!/bin/bash
# exports.sh LIBKILN.SO OBJECT…: what the program's and the C API's clients call is exported by the shared library, and
# nothing else than Kiln's own names is.
set -euo pipefail
library=$1
shift
exported=$(nm -D --defined-only "$library" | awk '{print $3}' | sort -u)
called=$(nm --undefined-only "$@" | awk '/ U /{print $2}' | grep -E '^(_Z[A-Za-z]*4kiln|kiln_)' | sort -u |
  comm -23 - <(nm --defined-only "$@" | awk 'NF == 3 {print $3}' | sort -u))
[ "$(wc -l <<<"$called")" -gt 20 ] || {
  echo "only ${called:-nothing} is called of Kiln: are these the program's objects?"
  exit 1
}
missing=$(comm -13 <(printf '%s\n' "$exported") <(printf '%s\n' "$called"))
[ -z "$missing" ] || {
  printf 'mark with KILN_EXPORT:\n%s\n' "$(c++filt <<<"$missing")"
  exit 1
}
foreign=$(c++filt <<<"$exported" | grep -E '^(sqlite3_|XXH|ZSTD_|nlohmann)' || true)
[ -z "$foreign" ] || {
  printf 'not to be exported:\n%s\n' "$foreign"
  exit 1
}
