# Functions of `make check`, `make demo` and `make cross`; sourced in the repository's root, never run.

# without_lab : whether the lab is left out.
without_lab() {
    [ "${LAB:-}" = off ] && [ "${REQUIRE_LAB:-}" != 1 ]
}

# require_lab TARGET : ends with one line if the lab cannot run, unless it is left out.
require_lab() {
    without_lab || reason=$(tests/lab/can-run) || {
        echo "make $1: the lab cannot run: $reason (LAB=off goes without it)" >&2
        exit 1
    }
}

# compile_once : from nothing, cargo's incremental state takes a fifth of the compilation's time; a tree that has some keeps it.
compile_once() {
    [ -d "${CARGO_TARGET_DIR:-target}/debug/incremental" ] || export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}"
    compile_in_large_pages
}

# compile_in_large_pages : rustc's allocator, jemalloc, takes large pages and gives none back before its end (jemalloc(3)), which
# saves a seventh of the time.
compile_in_large_pages() {
    export MALLOC_CONF="${MALLOC_CONF:-thp:always,metadata_thp:always,dirty_decay_ms:-1,muzzy_decay_ms:-1}"
}

# compile_with_clippy : clippy's driver is the compiler of the workspace's crates, and each warning is an error: clippy of its own
# would read everything once more, dependencies included.
compile_with_clippy() {
    export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
}

# conclude TARGET SUCCESS [OTHERS] : the last line. It says SUCCESS only if nothing was left out and nothing passed by a second run
# alone. OTHERS: the commands that have what this one has not.
conclude() {
    exceptions=
    ! [ -s "$NOT_TESTED" ] || exceptions="; NOT TESTED: $(listed "$NOT_TESTED")"
    ! [ -s "${FLAKES:-/dev/null}" ] || exceptions="$exceptions; FLAKES, passed by their second run alone: $(listed "$FLAKES")"
    [ -z "${3:-}" ] || others="; not in it: $3"
    if [ -n "$exceptions" ]; then echo "make $1: passed$exceptions${others:-}"; else echo "make $1: $2${others:-}"; fi
}

# listed FILE : its lines as one.
listed() {
    sort -u "$1" | sed '$!s/$/;/' | xargs -d '\n'
}
