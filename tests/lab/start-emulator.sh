#!/bin/sh
# start-emulator.sh TREE IMAGE PROGRAM ARGUMENT... : becomes a program of the emulator's tree.
# The driver calls it by way of `unshare --mount`. Where standard input is a pipe the program runs for as long as somebody holds its other end.
set -eu
tree=$1
image=$2
shift 2
if [ -p /dev/stdin ]; then
    exec 3<&0 </dev/null
    # $$ stays what the shell was: the program, once it has taken its place.
    (
        cat <&3 >/dev/null
        kill -KILL $$
    ) &
    exec 3<&-
fi
mount --rbind /dev "$tree/dev"
mount -t proc proc "$tree/proc"
mount --bind "$image" "$tree/lab/image"
exec chroot "$tree" "$@"
