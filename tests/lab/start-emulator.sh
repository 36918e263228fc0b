#!/bin/sh
# start-emulator.sh TREE IMAGE PROGRAM ARGUMENT... : becomes a program of the emulator's tree.
# The driver calls it through `unshare --mount`. If standard input is a pipe, the program runs until its other end is closed.
set -eu
tree=$1
image=$2
shift 2
if [ -p /dev/stdin ]; then
    exec 3<&0 </dev/null
    # $$ is the shell's process id, and after exec the program's.
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
