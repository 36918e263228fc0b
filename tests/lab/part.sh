# How a part of the lab's cache is built; sourced after lib.sh, never run.

# Services of a node run as other users, and read the tree.
umask 022

# build DEST SCRIPT ARGUMENT... : builds in a temporary directory first, so that an aborted build never counts as complete. A failure
# has a second try: most of them are an archive's that did not answer for minutes, and apt's own retries end before.
build() {
    dest=$1
    script=$2
    shift 2
    [ ! -d "$dest" ] || return 0
    start=$(date +%s)
    build_once "$@" || {
        say "$script failed, and is tried once more"
        build_once "$@" || die "$script failed"
    }
    mv "$dest.part" "$dest"
    say "$script: $(($(date +%s) - start)) s, $(du -sh "$dest" | cut -f1)"
}

# build_once ARGUMENT... : $script into $dest.part; nothing is left of a failure. Its mounts are its own: a copy of /dev beside the
# host's has the disks of containers that run, in /dev/shm, and these could not be removed before it.
build_once() {
    rm -rf "$dest.part"
    ${own_mounts-unshare --mount} "$here/$script" "$@" "$dest.part" 9>&- >&2 || { rm -rf "$dest.part"; return 1; }
}
