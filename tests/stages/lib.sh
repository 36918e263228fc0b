# Functions of `make check` and `make demo`; sourced in the repository's root, never run.

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

# conclude TARGET SUCCESS : the last line. It says SUCCESS only if nothing was left out.
conclude() {
    if [ -s "$NOT_TESTED" ]; then
        echo "make $1: passed; NOT TESTED: $(sort -u "$NOT_TESTED" | sed '$!s/$/;/' | xargs -d '\n')"
    else
        echo "make $1: $2"
    fi
}
