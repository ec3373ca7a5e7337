#!/bin/sh
# Boots the Debian in a folder, with systemd as the first process of new namespaces and a control group of its own: boot.sh <folder> <name>
#
# It has a loopback interface only. It ends with this process.
set -eu
root=$1
name=$2

case ${3-outside} in
  outside)
    groups=$(findmnt --noheadings --output TARGET --types cgroup2 | head -n 1)
    mkdir "$groups/$name"
    echo $$ > "$groups/$name/cgroup.procs"
    exec unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child "$0" "$root" "$name" inside
    ;;
  inside)
    mount --make-rprivate /
    mount --bind "$root" "$root"
    cd "$root"
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    mount -t tmpfs -o mode=755 tmpfs run
    mount -t tmpfs -o mode=755 tmpfs dev
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    ln -s /proc/self/fd/0 dev/stdin
    ln -s /proc/self/fd/1 dev/stdout
    ln -s /proc/self/fd/2 dev/stderr
    for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
      IFS=: read -r file major minor << DEVICE
$device
DEVICE
      mknod -m 666 "dev/$file" c "$major" "$minor"
    done
    mkdir -p old
    pivot_root . old
    hostname "$name"
    umount --lazy /old
    # systemd behaves as in other containers: it starts no device manager, and no console.
    exec env -i container="$name" PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
    ;;
esac
