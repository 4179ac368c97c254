#!/usr/bin/env bash
# A throw-away machine with two sockets, for what needs a kernel of its own: function, never speed.
#
#   guest.sh build WORK           fetch QEMU, a kernel and its headers; make the initramfs
#   guest.sh module WORK FOLDER   build the kernel module in FOLDER; its .ko is put into WORK/modules
#   guest.sh run WORK SHARE CMD   boot, run `sh -c CMD` with SHARE as /host and working directory,
#                                 and end with its exit code
#
# The guest sees this machine's own files, read-only under a layer that is thrown away. Debian's
# packages are unpacked below WORK; nothing is installed. TIMEOUT (300 s) ends a guest that hangs.
set -euo pipefail

die() { echo "guest.sh: $*" >&2; exit 125; }
[ $# -ge 2 ] || die "usage: guest.sh build WORK | module WORK FOLDER | run WORK SHARE CMD"
mode=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)
suite=bookworm
newer=$suite-backports
modules="virtio_pci 9p 9pnet_virtio overlay"

private_apt() { # so that neither packages nor lists of this machine change
    local mirror=${MIRROR-} state=$work/apt
    [ -n "$mirror" ] || mirror=$(apt-cache policy | awk -v s="$suite/main" '$3 == s {m = $2} END {print m}')
    [ -n "$mirror" ] || die "no package mirror for $suite known; run apt-get update, or set MIRROR"
    rm -rf "$state"
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    : >"$state/status"
    local key=/usr/share/keyrings/debian-archive-keyring.gpg part
    for part in $suite $newer; do echo "deb [signed-by=$key] $mirror $part main"; done >"$state/sources.list"
    cat >"$state/conf" <<CONF
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::sourcelist "$state/sources.list";
Debug::NoLocking "1";
APT::Install-Recommends "0";
APT::Sandbox::User "root";
Acquire::Languages "none";
CONF
    export APT_CONFIG=$state/conf
    apt-get -qq update
}

build() {
    private_apt
    rm -rf "$work/tools"
    mkdir -p "$work/tools"
    apt-get -qq -y -d -t $newer install qemu-system-x86 >/dev/null
    local version release deb
    version=$(apt-cache madison linux-image-amd64 | awk -v n="$newer/" 'index($0, n) {v = $3} END {print v}')
    release=$(apt-cache depends "linux-image-amd64=$version" | awk '/Depends:/ {d = $2} END {print d}')
    release=${release#linux-image-}
    (cd "$work/apt/cache/archives" && apt-get -qq download "linux-image-$release" busybox-static \
        "linux-headers-$release" "linux-headers-${release%-*}-common" "linux-kbuild-${release%-*}")
    for deb in "$work"/apt/cache/archives/*.deb; do
        case $deb in */qemu-user* | */perl* | */python*) ;; *) dpkg-deb -x "$deb" "$work/tools" ;; esac
    done
    rm -rf "$work/apt"
    # The headers name their other half by its installed place.
    sed -i "s|include /usr/src|include $work/tools/usr/src|" "$work/tools/usr/src/linux-headers-$release/Makefile"
    rm -f "$work/tools/usr/src/linux-headers-$release/vmlinux" # only for type information of modules
    ln -sfn "linux-headers-$release" "$work/tools/usr/src/headers"
    initramfs "$release"
}

initramfs() {
    local root=$work/initramfs busybox=$work/tools/bin/busybox name file
    rm -rf "$root"
    mkdir -p "$root"/{bin,dev,proc,sys,new,lower,rw} "$root/lib/modules/$1"
    "$busybox" depmod -b "$work/tools" "$1"
    for name in $modules; do
        # Not listed: built into the kernel.
        { grep -E "/${name//[-_]/[-_]}\.ko[^:]*:" "$work/tools/lib/modules/$1/modules.dep" || true; } |
            tr -d : | tr ' ' '\n'
    done | sort -u | while read -r file; do
        case $file in
        *.xz) xz -dc "$work/tools/lib/modules/$1/$file" >"$root/lib/modules/$1/$(basename "${file%.xz}")" ;;
        *) cp "$work/tools/lib/modules/$1/$file" "$root/lib/modules/$1/" ;;
        esac
    done
    "$busybox" depmod -b "$root" "$1"
    cp "$busybox" "$root/bin/"
    tr ' ' '\n' <<<"$modules" >"$root/modules"
    cp "$(dirname "${BASH_SOURCE[0]}")/init" "$root/init"
    chmod +x "$root/init"
    (cd "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -1 >"$work/initrd.gz")
}

module() {
    local name
    name=$(basename "$1")
    mkdir -p "$work/modules"
    rm -rf "$work/modules/$name"
    cp -r "$1" "$work/modules/$name"
    make -s -C "$work/tools/usr/src/headers" M="$work/modules/$name" modules >"$work/modules/$name.log" 2>&1 ||
        { cat "$work/modules/$name.log" >&2; die "the module in $1 does not build"; }
    mv "$work/modules/$name/$name.ko" "$work/modules/"
}

run() {
    local share=$1 log tools=$work/tools libraries status=0
    log=$(mktemp -d "$work/run.XXXXXX")
    trap 'rm -rf "$log"' EXIT
    printf '%s\n' "$2" >"$log/cmd"
    cp "$tools/bin/busybox" "$log/"
    [ ! -d "$work/modules" ] || cp "$work"/modules/*.ko "$log/"
    libraries=$tools/lib/x86_64-linux-gnu:$tools/usr/lib/x86_64-linux-gnu:$tools/usr/lib/x86_64-linux-gnu/pulseaudio
    local -a qemu=(-machine q35 -accel "tcg,thread=multi" -cpu "max,-la57,l3-cache=off" -smp "2,sockets=2,cores=1" -m 3072M)
    local node
    for node in 0 1; do
        qemu+=(-object "memory-backend-ram,id=m$node,size=1536M" -numa "node,nodeid=$node,cpus=$node,memdev=m$node")
    done
    folder() { # TAG PATH OPTIONS
        qemu+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap$3"
            -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
    }
    folder root / ",readonly=on"
    folder share "$share" ""
    folder lab "$log" ""
    # QEMU runs with its own loader and libraries, whatever this machine's are.
    QEMU_MODULE_DIR=$tools/usr/lib/x86_64-linux-gnu/qemu timeout -k 5 "${TIMEOUT:-300}" \
        "$tools/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$libraries" \
        "$tools/usr/bin/qemu-system-x86_64" -L "$tools/usr/share/seabios" -L "$tools/usr/share/qemu" \
        "${qemu[@]}" -nographic -nodefaults -no-reboot -monitor none -serial "file:$log/console" \
        -kernel "$(echo "$tools"/boot/vmlinuz-*)" -initrd "$work/initrd.gz" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable" \
        </dev/null >"$log/qemu" 2>&1 || true
    cat "$log/stdout" 2>/dev/null || true
    cat "$log/stderr" >&2 2>/dev/null || true
    [ -s "$log/rc" ] || { tail -n 5 "$log/qemu" "$log/console" >&2; die "the guest gave no exit code"; }
    status=$(cat "$log/rc")
    exit "$status"
}

case $mode in
build) build ;;
module) [ $# = 3 ] || die "usage: guest.sh module WORK FOLDER"; module "$3" ;;
run) [ $# = 4 ] || die "usage: guest.sh run WORK SHARE CMD"; run "$(cd "$3" && pwd)" "$4" ;;
*) die "unknown mode $mode" ;;
esac
