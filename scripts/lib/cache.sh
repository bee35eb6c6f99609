# Compiled dependencies that survive a clean clone. Sourced by other scripts.
#
#   restore_dependencies NAME FOLDER [FLAG...]   fill a target folder that does not exist yet
#   save_dependencies NAME FOLDER [FLAG...]      keep the dependencies of a target folder
#
# They are in $OSM_TEST_CACHE/built, by compiler, lock files and flags. Only crates of the registry and
# the standard library are kept, whose source never changes, and cargo checks each of them against
# what it is asked for. Crates of this repository are never kept, so an old build of them cannot be
# tested by mistake.

cache_folder=${OSM_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/osm-test}

dependencies_folder() { # NAME FLAG...
  local name=$1 key
  shift
  key=$(
    {
      "${RUSTC:-rustc}" -vV
      cat Cargo.lock fuzz/Cargo.lock
      sed -n '/^\[profile/,$p' Cargo.toml
      printf '%s\n' "$@"
    } | sha256sum | cut -c1-16
  )
  printf '%s' "$cache_folder/built/$name-$key"
}

restore_dependencies() {
  local name=$1 folder=$2 kept
  shift 2
  kept=$(dependencies_folder "$name" "$@")
  if [ ! -e "$folder" ] && [ -e "$kept" ]; then
    mkdir -p "$(dirname "$folder")"
    cp -a --reflink=auto "$kept" "$folder"
    echo "dependencies of an earlier run: $kept"
  fi
}

save_dependencies() {
  local name=$1 folder=$2 kept new
  shift 2
  kept=$(dependencies_folder "$name" "$@")
  [ ! -e "$kept" ] || return 0
  mkdir -p "$cache_folder/built"
  # One for each name: other lock files and compilers are history.
  find "$cache_folder/built" -mindepth 1 -maxdepth 1 -name "$name-*" -exec rm -rf {} +
  new=$(mktemp -d "$cache_folder/built/.new-XXXXXX")
  # Folders of cargo alone; ours are never kept, nor what can be made from them.
  (cd "$folder" && find . -type d \( -name deps -o -name .fingerprint -o -name build \) -prune -print0 |
    xargs -0 -r cp -a --reflink=auto --parents -t "$new")
  find "$new" -depth \( -name 'osm-*' -o -name 'osm_*' -o -name 'libosm-*' -o -name 'libosm_*' \) \
    -exec rm -rf {} +
  # Programs in deps are tests and ours; build scripts are elsewhere.
  find "$new" -path '*/deps/*' -type f -executable ! -name '*.so' ! -name '*.rlib' -exec rm -f {} +
  mv -T "$new" "$kept" 2>/dev/null || rm -rf "$new"
}
