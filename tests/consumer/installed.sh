#!/usr/bin/env bash
# Installs muster and builds a project against it with find_package, all in folders with a space.
. "$(dirname "$0")/common.sh"
prefix="$WORK/a prefix"

quiet cmake --install "$BUILD" --prefix "$prefix"
for place in "$LIBTORCH" "$BUILD" "$SOURCE" "${XDG_CACHE_HOME:-$HOME/.cache}/muster"; do
  found=$(grep -rlF "$place/" "$prefix" || true)
  [[ -z $found ]] || fail "$place is named by what was installed: $found"
done
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

# The same LibTorch as python3's torch, named by nothing: a folder on Python's path that has torch/.
mkdir "$WORK/site"
ln -s "$LIBTORCH" "$WORK/site/torch"
rm -r "$WORK/a project"
PYTHONPATH=$WORK/site quiet configure "$WORK/python" "-DCMAKE_PREFIX_PATH=$prefix"
quiet cmake --build "$WORK/python" && quiet "$WORK/python/consumer"
