#!/bin/sh
# Builds the threaded kernels with the thread sanitizer and runs them:
# native/sanitize/races.sh [build folder]. CXX is respected.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/races}
mkdir -p "$build"
"${CXX:-c++}" -std=c++17 -O1 -g -fsanitize=thread -ffp-contract=off -I "$here/.." "$here/races.cpp" \
  -o "$build/races" -pthread
exec "$build/races"
