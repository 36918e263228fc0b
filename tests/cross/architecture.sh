# The names of RHEL CoreOS's other architectures; sourced, never run. QEMU calls them as Red Hat does.

ARCHITECTURES="aarch64 ppc64le s390x"

# architecture NAME : sets target (Rust's name), debian (Debian's) and triplet (GNU's).
architecture() {
    case $1 in
    aarch64) target=aarch64-unknown-linux-gnu debian=arm64 triplet=aarch64-linux-gnu ;;
    ppc64le) target=powerpc64le-unknown-linux-gnu debian=ppc64el triplet=powerpc64le-linux-gnu ;;
    s390x) target=s390x-unknown-linux-gnu debian=s390x triplet=s390x-linux-gnu ;;
    *)
        echo "cross: '$1' is none of $ARCHITECTURES" >&2
        exit 2
        ;;
    esac
}
