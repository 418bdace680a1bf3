#!/usr/bin/env bash
# Installs muster and builds a project against it with find_package, all in folders with a space.
. "$(dirname "$0")/common.sh"
prefix="$WORK/a prefix"

quiet cmake --install "$BUILD" --prefix "$prefix"
for place in "$LIBTORCH" "$BUILD" "$SOURCE" "${XDG_CACHE_HOME:-$HOME/.cache}/muster"; do
  found=$(grep -rlF --exclude=muster-check "$place/" "$prefix" || true)
  [[ -z $found ]] || fail "$place is named by what was installed: $found"
  # A program of ours has to find LibTorch: that is all that it may name.
  ! readelf -p .rodata -p .data "$prefix/libexec/muster/muster-check" | grep -F "$place/" ||
    fail "$place is named by muster-check"
done
runpath=$(readelf -d "$prefix/libexec/muster/muster-check" | sed -nE 's/.*(RPATH|RUNPATH).*\[(.*)\]/\2/p')
[[ :$runpath: == *":$LIBTORCH/lib:"* && $runpath != *"$BUILD"* ]] || fail "muster-check looks for LibTorch in $runpath"
! readelf -d "$prefix/bin/muster" | grep -E 'RPATH|RUNPATH' || fail "bin/muster has a search path"
[[ $("$prefix/bin/muster" --version) == *0.1.0* ]] || fail "bin/muster has another version"
[[ -f $prefix/share/doc/muster/LICENSE ]] || fail "no licence is installed"
for file in man/man1/muster.1 muster/muster.schema.json bash-completion/completions/muster \
  zsh/site-functions/_muster fish/vendor_completions.d/muster.fish; do
  [[ -s $prefix/share/$file ]] || fail "no share/$file is installed"
done

quiet configure "$WORK/build" "-DCMAKE_PREFIX_PATH=$prefix" "-DMUSTER_LIBTORCH=$LIBTORCH"
quiet cmake --build "$WORK/build"
runs_alone_and_launched "$prefix/bin/muster" "$WORK/build/consumer"

# The check of a machine, for a user who has nothing else there.
mkdir "$WORK/home"
output=$(env -u MUSTER_LIBTORCH HOME="$WORK/home" "$prefix/bin/muster" test -n 2 --devices cpu) || fail "test: exit $?: $output"
[[ $output == *"14 checks ok on 2 ranks"* ]] || fail "muster test: $output"
[[ -z $(ls -A "$WORK/home") ]] || fail "muster test leaves something behind"

# The same LibTorch as python3's torch, named by nothing: a folder on Python's path that has torch/.
mkdir "$WORK/site"
ln -s "$LIBTORCH" "$WORK/site/torch"
rm -r "$WORK/a project"
PYTHONPATH=$WORK/site quiet configure "$WORK/python" "-DCMAKE_PREFIX_PATH=$prefix"
quiet cmake --build "$WORK/python" && quiet "$WORK/python/consumer"
