#!/usr/bin/env bash
# A throw-away machine with two sockets, for what needs a kernel of its own: function, never speed.
#
#   guest.sh build WORK           fetch QEMU, a kernel and its headers; make the initramfs
#   guest.sh initramfs WORK       make the initramfs again, of the kernel that is there
#   guest.sh tools WORK           fetch the commands and libraries of tiers that this machine lacks
#   guest.sh module WORK FOLDER   build the kernel module in FOLDER; its .ko is put into WORK/modules
#   guest.sh run WORK SHARE CMD   boot, run `sh -c CMD` with SHARE as /host and working directory,
#                                 and end with its exit code
#
# The guest sees this machine's own files, read-only under a layer that is thrown away. Debian's
# packages are unpacked below WORK; nothing is installed. Settings of `run`, by environment:
#
#   TIMEOUT=300     seconds after which a guest that hangs is ended
#   CPUS=1          of each of nodes 0 and 1, which are a socket each
#   NODE_MB=1536    memory of each of them
#   PMEM_MB=0       size of each of two NVDIMMs, on nodes 2 and 3 without CPU
#   PMEM_DIR=       folder that keeps their contents from boot to boot; else they are thrown away
#   CXL_MB=0        size of a volatile CXL device, in steps of 256, on a node that its region makes
#   MODULES=        kernel modules to load, of those named in $optional below
#   SAVE=           folder that gets what the guest leaves in /lab/saved
#   BOOT=           more of the kernel's command line, such as hugepagesz=1G hugepages=0:1,1:1
#
# Distances (SLIT) and latencies and bandwidths (HMAT) of nodes are made up, see `firmware_tables`.
set -euo pipefail

die() { echo "guest.sh: $*" >&2; exit 125; }
[ $# -ge 2 ] || die "usage: guest.sh build|initramfs|tools WORK | module WORK FOLDER | run WORK SHARE CMD"
mode=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)
suite=bookworm
newer=$suite-backports
modules="virtio_pci 9p 9pnet_virtio overlay"
optional="crc32c_generic ext4 xfs nfit nd_pmem nd_btt dax_pmem device_dax kmem dax_hmem
 cxl_acpi cxl_pci cxl_mem cxl_pmem dax_cxl"
tier_tools="ndctl daxctl xfsprogs e2fsprogs libpmemobj1"

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
    initramfs
}

initramfs() {
    local root=$work/initramfs busybox=$work/tools/bin/busybox name file release
    release=$(basename "$work"/tools/lib/modules/*)
    rm -rf "$root"
    mkdir -p "$root"/{bin,dev,proc,sys,new,lower,rw} "$root/lib/modules/$release"
    [ -s "$work/tools/lib/modules/$release/modules.dep" ] || "$busybox" depmod -b "$work/tools" "$release"
    for name in $modules $optional; do
        # Not listed: built into the kernel.
        { grep -E "/${name//[-_]/[-_]}\.ko[^:]*:" "$work/tools/lib/modules/$release/modules.dep" || true; } |
            tr -d : | tr ' ' '\n'
    done | sort -u | while read -r file; do
        case $file in
        *.xz) xz -dc "$work/tools/lib/modules/$release/$file" >"$root/lib/modules/$release/$(basename "${file%.xz}")" ;;
        *) cp "$work/tools/lib/modules/$release/$file" "$root/lib/modules/$release/" ;;
        esac
    done
    "$busybox" depmod -b "$root" "$release"
    cp "$busybox" "$root/bin/"
    tr ' ' '\n' <<<"$modules" >"$root/modules"
    cp "$(dirname "${BASH_SOURCE[0]}")/init" "$root/init"
    chmod +x "$root/init"
    (cd "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -1 >"$work/initrd.gz")
}

tools() {
    local into=$work/tier-tools deb
    private_apt
    rm -rf "$into" "$into.new"
    mkdir -p "$into.new"
    # Against what this machine has: so no second C library comes with them.
    # shellcheck disable=SC2086
    apt-get -qq -y -d -o Dir::State::status=/var/lib/dpkg/status install $tier_tools >/dev/null
    for deb in "$work"/apt/cache/archives/*.deb; do [ ! -e "$deb" ] || dpkg-deb -x "$deb" "$into.new"; done
    rm -rf "$work/apt"
    mv "$into.new" "$into"
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

nodes() {
    local node megabytes=${NODE_MB:-1536} cpus=${CPUS:-1}
    for node in 0 1; do
        qemu+=(-object "memory-backend-ram,id=m$node,size=${megabytes}M"
            -numa "node,nodeid=$node,cpus=$((node * cpus))-$((node * cpus + cpus - 1)),memdev=m$node,initiator=$node")
    done
    qemu+=(-smp "$((2 * cpus)),sockets=2,cores=$cpus"
        -m "$((2 * megabytes))M,slots=4,maxmem=$((2 * megabytes + 2 * ${PMEM_MB:-0} + 4096))M")
}

nvdimms() {
    local node file size=$((PMEM_MB + 2)) # 2 MiB of it are labels
    for node in 2 3; do
        file=${PMEM_DIR:-$log}/nvdimm$((node - 2))
        [ -e "$file" ] || truncate -s "${size}M" "$file"
        qemu+=(-numa "node,nodeid=$node,initiator=$((node - 2))"
            -object "memory-backend-file,id=p$node,share=on,mem-path=$file,size=${size}M"
            -device "nvdimm,id=nv$node,memdev=p$node,label-size=2M,node=$node")
    done
}

# Of the nearer CPU and of the farther one: DRAM 80 and 140 ns, NVDIMM 300 and 400 ns.
firmware_tables() {
    local from to distance latency gigabytes last=1
    [ "${PMEM_MB:-0}" = 0 ] || last=3
    for from in 0 1; do
        for ((to = 0; to <= last; to++)); do
            case $from$to in
            00 | 11) distance=10 latency=80 gigabytes=100 ;;
            01 | 10) distance=21 latency=140 gigabytes=50 ;;
            02 | 13) distance=17 latency=300 gigabytes=20 ;;
            03 | 12) distance=28 latency=400 gigabytes=10 ;;
            esac
            [ "$from" -ge "$to" ] || qemu+=(-numa "dist,src=$from,dst=$to,val=$distance")
            qemu+=(-numa "hmat-lb,initiator=$from,target=$to,hierarchy=memory,data-type=access-latency,latency=$latency"
                -numa "hmat-lb,initiator=$from,target=$to,hierarchy=memory,data-type=access-bandwidth,bandwidth=${gigabytes}G")
        done
    done
    [ "$last" = 1 ] || qemu+=(-numa "dist,src=2,dst=3,val=28")
}

cxl_device() {
    qemu+=(-object "memory-backend-ram,id=cx,size=${CXL_MB}M"
        -device "pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl0" -device "cxl-rp,port=0,bus=cxl0,id=rp0,chassis=0,slot=2"
        -device "cxl-type3,bus=rp0,volatile-memdev=cx,id=mem0"
        -M "cxl-fmw.0.targets.0=cxl0,cxl-fmw.0.size=4G")
}

run() {
    local share=$1 tools=$work/tools libraries status=0 machine=q35,hmat=on cpu=max,-la57,l3-cache=off shared=""
    local boot="console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable memhp_default_state=offline"
    local -a qemu=()
    log=$(mktemp -d "$work/run.XXXXXX")
    trap 'rm -rf "$log"' EXIT
    printf '%s\n' "$2" >"$log/cmd"
    tr ' ' '\n' <<<"${MODULES:-}" >"$log/modules"
    cp "$tools/bin/busybox" "$log/"
    [ ! -d "$work/modules" ] || cp "$work"/modules/*.ko "$log/"
    libraries=$tools/lib/x86_64-linux-gnu:$tools/usr/lib/x86_64-linux-gnu:$tools/usr/lib/x86_64-linux-gnu/pulseaudio
    if [ "${PMEM_MB:-0}" != 0 ]; then
        machine+=,nvdimm=on
        nvdimms
    fi
    if [ "${CXL_MB:-0}" != 0 ]; then
        # Linux makes no region of CXL memory on a processor that says it is virtual, and QEMU's
        # devices cannot reach that memory.
        machine+=,cxl=on cpu+=,-hypervisor shared=,disable-legacy=on,iommu_platform=on boot+=" swiotlb=force"
        cxl_device
    fi
    nodes
    firmware_tables
    folder() { # TAG PATH OPTIONS
        qemu+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap$3"
            -device "virtio-9p-pci,bus=pcie.0,fsdev=$1,mount_tag=$1$shared")
    }
    folder root / ",readonly=on"
    folder share "$share" ""
    folder lab "$log" ""
    # QEMU runs with its own loader and libraries, whatever this machine's are.
    QEMU_MODULE_DIR=$tools/usr/lib/x86_64-linux-gnu/qemu timeout -k 5 "${TIMEOUT:-300}" \
        "$tools/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$libraries" \
        "$tools/usr/bin/qemu-system-x86_64" -L "$tools/usr/share/seabios" -L "$tools/usr/share/qemu" \
        -machine "$machine" -accel "tcg,thread=multi,tb-size=512" -cpu "$cpu" "${qemu[@]}" \
        -nographic -nodefaults -no-reboot -monitor none -serial "file:$log/console" \
        -kernel "$(echo "$tools"/boot/vmlinuz-*)" -initrd "$work/initrd.gz" -append "$boot ${BOOT:-}" \
        </dev/null >"$log/qemu" 2>&1 || true
    [ -z "${SAVE:-}" ] || [ ! -d "$log/saved" ] || cp -r "$log/saved/." "$SAVE/"
    cat "$log/stdout" 2>/dev/null || true
    cat "$log/stderr" >&2 2>/dev/null || true
    [ -s "$log/rc" ] || { tail -n 5 "$log/qemu" "$log/console" >&2; die "the guest gave no exit code"; }
    status=$(cat "$log/rc")
    exit "$status"
}

case $mode in
build) build ;;
initramfs) initramfs ;;
tools) tools ;;
module) [ $# = 3 ] || die "usage: guest.sh module WORK FOLDER"; module "$3" ;;
run) [ $# = 4 ] || die "usage: guest.sh run WORK SHARE CMD"; run "$(cd "$3" && pwd)" "$4" ;;
*) die "unknown mode $mode" ;;
esac
