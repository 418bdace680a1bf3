# Sourced by the tests of this folder: BUILD (the tree that is tested), SOURCE, LIBTORCH, WORK, an
# empty folder with a space in its name, and functions.
set -euo pipefail
BUILD=$1 SOURCE=$2 LIBTORCH=$3
WORK="$BUILD/tests/consumer/$(basename "$0" .sh) of it"
rm -rf "$WORK"
mkdir -p "$WORK"

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

# Runs a command whose output is shown only if it fails.
quiet() {
  "$@" >"$WORK/log" 2>&1 || { cat "$WORK/log" && fail "$*"; }
}

# configure FOLDER ARGUMENT...: configures the consumer's project, with ccache if there is one.
configure() {
  local folder=$1 launcher=()
  shift
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cp -r "$SOURCE/tests/consumer/project" "$WORK/a project"
  cmake -G Ninja -S "$WORK/a project" -B "$folder" "${launcher[@]}" "$@"
}

# runs_alone_and_launched LAUNCHER PROGRAM: the program is a world of one alone, of two launched.
runs_alone_and_launched() {
  local output
  output=$("$2") || fail "$2 exits with $?"
  [[ $output == "1 ranks, sum 1" ]] || fail "alone: $output"
  output=$("$1" launch -n 2 --devices cpu -- "$2") || fail "launched: exit $?: $output"
  [[ $output == *"2 ranks, sum 2"* ]] || fail "launched: $output"
}
