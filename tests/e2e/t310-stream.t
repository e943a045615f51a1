#!/bin/sh
# SPDX-License-Identifier: MIT
# t310-stream.t - images in one checked file: what is in them, what may happen to them, and to the
# streamer, and that no wrong byte is ever restored
. "$(dirname "$0")/../lib/gq.sh"
driver=$GQ_BUILD/tests/lib/exec-driver
[ -x "$driver" ] || skip_all "tests/lib/exec-driver is not built"
need_criu
need_programs python3 gq-image
gq_tmp
GQ_SHIM=$GQ_BUILD/bin/gq-shim
GQ_CRIU=$gq_criu
export GQ_SHIM GQ_CRIU
chain=$GQ_BUILD/tests/lib/chain

drive() {
	said=$(timeout 150 "$driver" "$gq_dir" 2>&1)
}

script() {
	cat >"$gq_dir/$1"
}

script chain <<END
#!/bin/sh
exec $chain 150 2
END
"$chain" 150 2 >plain

# --- what lies on the disk, and what it says
drive <<END
doctor
start 1 1 0 $gq_dir/chain
lines $gq_dir/work/1.out 20
store 1 1
wait stored 1 1
END
dir=$gq_dir/images/1/1
image=$dir/image.gqi
is 'an image is one file' "$(ls "$dir")" image.gqi
is 'that nobody else can read' "$(stat -c %a "$image")" 600
like 'it is whole' "$(gq-image verify "$dir" 2>&1)" ': ok, [0-9]+ files'
info=$(gq-image info "$image")
like 'it knows its job' "$info" '^job=1$'
like 'its incarnation' "$info" '^incarnation=1$'
like 'the first process' "$info" '^root=1000$'
like 'the version of criu' "$info" '^criu=[0-9]+\.[0-9]+'
like 'the options of criu' "$info" '^criu_options=criu dump .*--stream'
like 'the kernel' "$info" "^kernel=Linux $(uname -r)"
like 'the flags of the CPU' "$info" '^cpu_flags=.*sse2'
ok 'as JSON too' "gq-image info --json '$image' | python3 -c '
import json, sys
i = json.load(sys.stdin)[0]
assert i[\"job\"] == 1 and i[\"format\"] == \"gqi 1\" and i[\"raw_bytes\"] > i[\"bytes\"]'"
ok 'its files, as JSON' "gq-image ls --json '$image' | python3 -c '
import json, sys
f = {x[\"name\"]: x for x in json.load(sys.stdin)[0][\"files\"]}
assert f[\"pages-1.img\"][\"bytes\"] > 2 << 20 and f[\"pages-1.img\"][\"frames\"] >= 2'"
ok 'extract' "gq-image extract -C '$gq_dir/x' '$image'"
is "criu's own files: the inventory begins with criu's mark" \
	"$(head -c 4 "$gq_dir/x/inventory.img" | od -An -tx4 | tr -d ' ')" 58313116
like 'a folder is verified as well' "$(gq-image verify "$gq_dir/x" 2>&1)" ': ok, '
not_ok 'what exists is not overwritten' "gq-image extract -C '$gq_dir/x' '$image'"
ok 'one file alone' "gq-image extract -C '$gq_dir/y' '$image' pstree.img && cmp '$gq_dir/x/pstree.img' '$gq_dir/y/pstree.img'"
not_ok 'one that is not in it' "gq-image extract -C '$gq_dir/y' '$image' nothing.img"
ok 'pack' "gq-image pack -o '$gq_dir/packed.gqi' '$gq_dir/x'"
like 'what was packed keeps its manifest' "$(gq-image info "$gq_dir/packed.gqi")" '^root=1000$'
gq-image frobnicate "$image" 2>/dev/null
is 'a wrong command' $? 2
gq-image ls "$gq_dir/chain" 2>"$gq_dir/why"
is 'a foreign file' $? 1
like 'is called so' "$(cat "$gq_dir/why")" 'gq-image: .*/chain: not a gq image'
like 'its manual page' "$(gq-image --help)" '^  verify '

# --- damage: said with its offset, the image stays, the job is whole afterwards
cp "$image" "$gq_dir/good"
size=$(stat -c %s "$image")
try=1
refused() { # WORDS REGEX
	try=$((try + 1))
	drive <<END
start 1 $try 1 $gq_dir/chain
wait restore-failed 1 $try
has 1 1
END
	like "$1: refused" "$said" "^restore-failed 1 $try .*text=$2"
	like "$1: the image stays" "$said" '^has 1 1 yes'
	not_ok "$1: verify says it too" "gq-image verify '$image'"
	cp "$gq_dir/good" "$image"
}
flip() { # OFFSET
	python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2])); b = f.read(1); f.seek(int(sys.argv[2])); f.write(bytes([b[0] ^ 16]))' \
		"$image" "$1"
}
# the second frame of the memory
at_pages=$(python3 - "$image" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
index = struct.unpack_from("<Q", data, len(data) - 64)[0] + 40
files, frames = struct.unpack_from("<II", data, index)
at = index + 8
for _ in range(files):
    number, n, length = struct.unpack_from("<III", data, at)
    name = data[at + 12:at + 12 + length].decode()
    at += 12 + length
    if name == "pages-1.img":
        print(struct.unpack_from("<Q", data, at + 32)[0])
    at += 32 * n
END
)
flip $((at_pages + 100))
refused 'a bit of the memory' "restore: .*/image.gqi: damaged at offset $at_pages: the contents of frame 1 of pages-1.img"
flip $((at_pages + 13))
refused 'a bit of a frame head' "restore: .*/image.gqi: damaged at offset $at_pages: the head of frame 1 of pages-1.img"
flip 3
refused 'a bit of the first word' 'verify: .*/image.gqi: not a gq image \(offset 0\)'
flip 30
refused 'a bit of the header' 'verify: .*/image.gqi: damaged at offset 0: the header'
flip $((size - 30))
refused 'a bit of the trailer' "verify: .*/image.gqi: damaged at offset $((size - 64)): the trailer"
flip $((size - 90))
refused 'a bit of the index' 'verify: .*/image.gqi: damaged at offset [0-9]+: the index'
truncate -s -1 "$image"
refused 'one byte missing' "verify: .*/image.gqi: cut off at offset $((size - 1))"
truncate -s $((at_pages + 5000)) "$image"
refused 'half of it missing' "verify: .*/image.gqi: cut off at offset $((at_pages + 5000))"
truncate -s 10 "$image"
refused 'nearly all missing' 'verify: .*/image.gqi: not a gq image'
cp "$gq_dir/chain" "$image"
refused 'a foreign file' 'verify: .*/image.gqi: not a gq image'
for fault in stream.serve:kill@5 stream.serve:EIO@9; do
	try=$((try + 1))
	GQ_FAULT=$fault
	export GQ_FAULT
	drive <<END
start 1 $try 1 $gq_dir/chain
wait restore-failed 1 $try
has 1 1
END
	unset GQ_FAULT
	like "$fault: the restore fails, the image stays" "$said" '^has 1 1 yes'
done
like 'a disk that cannot be read is named' "$said" 'text=restore: .*/image.gqi: read of .*: Input/output error'
try=$((try + 1))
cp "$gq_dir/packed.gqi" "$image"
drive <<END
start 1 $try 1 $gq_dir/chain
wait exited 1 $try
END
like 'the packed one is restored' "$said" "^exited 1 $try code=5"
ok 'and nothing was lost or done twice' 'cmp plain 1.out'

# --- the streamer dies or the disk is full at any point of a store: the job runs on, no image
n=10
for fault in stream.frame:kill stream.frame:kill@4 stream.frame:ENOSPC@3 stream.end:EIO \
	stream.end:kill stream.synced:kill stream.synced:EIO; do
	n=$((n + 1))
	GQ_FAULT=$fault
	export GQ_FAULT
	drive <<END
start $n 1 0 $gq_dir/chain
lines $gq_dir/work/$n.out 20
store $n 1
wait store-failed $n 1
grows $gq_dir/work/$n.out
wait exited $n 1
END
	unset GQ_FAULT
	like "$fault: the job runs on" "$said" "^exited $n 1 code=5 signal=0"
	ok "$fault: nothing was lost or done twice" "cmp plain $n.out"
	not_ok "$fault: nothing is left of the image" "ls -d $gq_dir/images/$n/*"
	case $fault in
	*ENOSPC*) like 'a full disk is named' "$said" 'text=dump: .*/image.gqi: No space left on device' ;;
	esac
done

# --- named shared memory travels in the image
script shm <<'END'
#!/usr/bin/env python3
import mmap, time
with open("/dev/shm/named", "w+b") as f:
    f.truncate(3 << 20)
    m = mmap.mmap(f.fileno(), 3 << 20)
m[70000:70005] = b"hello"
for i in range(100):
    print(i, flush=True)
    time.sleep(0.01)
assert m[70000:70005] == b"hello" and open("/dev/shm/named", "rb").read() == m[:]
END
drive <<END
start 30 1 0 $gq_dir/shm
lines $gq_dir/work/30.out 20
store 30 1
wait stored 30 1
END
like 'it is a file of it' "$(gq-image ls "$gq_dir/images/30/1")" ' shm\.gq$'
drive <<END
start 30 2 1 $gq_dir/shm
wait exited 30 2
END
like 'and comes back' "$said" '^exited 30 2 code=0 signal=0'

# --- restored memory is filled in large pages
script large <<END
#!/bin/sh
exec $chain 211 64
END
"$chain" 211 64 >plain
drive <<END
start 31 1 0 $gq_dir/large
lines $gq_dir/work/31.out 20
store 31 1
wait stored 31 1
END
drive <<END
start 31 2 1 $gq_dir/large
wait started 31 2
die
END
pid=$(pgrep -f "$chain 211 64")
faults=$(awk '{ print $10 }' "/proc/$pid/stat")
if grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled; then
	skip 'this kernel has no huge pages'
else
	ok "$faults page faults instead of 16384" "[ '$faults' -lt 4000 ]"
fi
drive <<END
adopt 31 2
wait exited 31 2
END
ok 'with the right contents' 'cmp plain 31.out'
done_testing
