#!/bin/sh
# Builds the kernels with the address and undefined behaviour sanitizers and runs their tests
# on them: native/sanitize/run.sh [build folder] [pytest arguments]. PYTHON and CXX are respected.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/sanitize}
[ $# -eq 0 ] || shift
python=${PYTHON:-python}
compiler=${CXX:-c++}
mkdir -p "$build"
build=$(cd "$build" && pwd)

cmake -S "$root" -B "$build" -DSUBMIN_SANITIZE=ON -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$compiler" -DPython_EXECUTABLE="$(command -v "$python")"
cmake --build "$build"

# A copy of the package with the instrumented module in the place of the usual one.
stage=$build/stage
rm -rf "$stage"
mkdir -p "$stage"
cp -R "$root/src/submin" "$stage/submin"
rm -f "$stage"/submin/_native*.so
cmake --install "$build" --prefix "$stage"

export PYTHONPATH="$stage"
export PYTHONMALLOC=malloc
export ASAN_OPTIONS=detect_leaks=0
export UBSAN_OPTIONS=print_stacktrace=1
LD_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)"
export LD_PRELOAD
cd "$root"
"$python" -c "
import sys, submin._native as native
sys.exit(None if native.__file__.startswith('$stage') else f'not instrumented: {native.__file__}')"
"$python" -m pytest tests/kernels tests/test_native_bad_input.py -p no:cacheprovider "$@"
# The kernels with vectors once more without them.
cd tests/kernels
export SUBMIN_VECTORS=portable
exec "$python" -m pytest -p no:cacheprovider "$@" \
  test_chains.py test_edges.py test_grid.py test_groups.py test_hyperedge.py test_sums.py \
  test_truncation.py
