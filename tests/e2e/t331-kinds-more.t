#!/bin/sh
# SPDX-License-Identifier: MIT
# t331-kinds-more.t - kinds that are natural in Python, and what may change around an image
# timeout: 300
. "$(dirname "$0")/../lib/gq.sh"
driver=$GQ_BUILD/tests/lib/exec-driver
kinds=$GQ_BUILD/tests/lib/kinds
[ -x "$driver" ] && [ -x "$kinds" ] || skip_all "tests/lib/exec-driver or kinds is not built"
need_criu
need_programs python3
gq_tmp
GQ_SHIM=$GQ_BUILD/bin/gq-shim
GQ_CRIU=$gq_criu
export GQ_SHIM GQ_CRIU
job=0

drive() {
	said=$(timeout 100 "$driver" "$gq_dir" 2>&1)
}

# python NAME <TEXT: it counts with step(), ends when over() is true; twice stored and restored
python() {
	job=$((job + 1))
	out=$gq_dir/work/$job.out
	{
		cat <<'END'
#!/usr/bin/env python3
import signal, time
terms, steps = [], [0]
def over(): return bool(terms)
def step(pause=0.01):
    steps[0] += 1
    print(steps[0], flush=True)
    time.sleep(pause)
END
		cat
	} >"$gq_dir/$1"
	drive <<END
start $job 1 0 $gq_dir/$1
lines $out 3
store $job 1
wait stored $job 1
start $job 2 1 $gq_dir/$1
wait started $job 2
grows $out
store $job 2
wait stored $job 2
start $job 3 2 $gq_dir/$1
wait started $job 3
grows $out
signal $job 3 15
wait exited $job 3
END
	like "python $1: goes on right after 2 images" "$said
$(tail -n 3 "$out")" "^exited $job 3 code=5 signal=0"
}

python loop <<'END'
import hashlib, random, sys
signal.signal(signal.SIGTERM, lambda *x: terms.append(1))
random.seed(1)
h, n = hashlib.sha256(), 0
while not over():
    h.update(random.randbytes(1000)); n += 1
    step()
random.seed(1)
k = hashlib.sha256()
for i in range(n): k.update(random.randbytes(1000))
sys.exit(5 if h.digest() == k.digest() else 1)
END

python fork-pool <<'END'
import multiprocessing, os, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with multiprocessing.get_context("fork").Pool(3) as pool:
    signal.signal(signal.SIGTERM, lambda *x: terms.append(1))
    while not over():
        assert pool.map(abs, range(-20, 0)) == list(range(20, 0, -1))
        step()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdout.flush()
os._exit(5)
END

python spawn-pool <<'END'
import multiprocessing, os
def main():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with multiprocessing.get_context("spawn").Pool(2, signal.signal, (signal.SIGTERM, signal.SIG_IGN)) as pool:
        lock = multiprocessing.get_context("spawn").Lock()
        signal.signal(signal.SIGTERM, lambda *x: terms.append(1))
        while not over():
            with lock:
                assert pool.map(abs, range(-20, 0)) == list(range(20, 0, -1))
            step()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os._exit(5)
if __name__ == "__main__":
    main()
END

python shared-memory <<'END'
import os, tempfile
from multiprocessing import shared_memory
signal.signal(signal.SIGTERM, signal.SIG_IGN)
m = shared_memory.SharedMemory(create=True, size=1 << 20)
scratch = tempfile.TemporaryFile()
scratch.write(b"s" * 3000000)
signal.signal(signal.SIGTERM, lambda *x: terms.append(1))
while not over():
    step()
    m.buf[steps[0] % (1 << 20)] = steps[0] % 256
    scratch.write(bytes([steps[0] % 256]))
again = shared_memory.SharedMemory(m.name)
assert all(again.buf[i] == i % 256 for i in range(1, steps[0] + 1))
scratch.seek(3000000)
assert scratch.read() == bytes(i % 256 for i in range(1, steps[0] + 1))
os._exit(5)
END

python asyncio <<'END'
import asyncio, os
async def serve(r, w):
    while data := await r.readline():
        w.write(data.upper()); await w.drain()
async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terms.append, 1)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*server.sockets[0].getsockname())
    cat = await asyncio.create_subprocess_exec("sh", "-c", "trap '' TERM; exec cat",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    while not over():
        w.write(b"abc\n")
        assert await r.readline() == b"ABC\n"
        cat.stdin.write(b"def\n")
        assert await cat.stdout.readline() == b"def\n"
        step(0)
        await asyncio.sleep(0.01)
    p = await asyncio.create_subprocess_exec("sh", "-c", "exit 3")
    assert await p.wait() == 3
    os._exit(5)
asyncio.run(main())
END

python http <<'END'
import http.server, os, threading, urllib.request
signal.signal(signal.SIGTERM, lambda *x: terms.append(1))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(self.path.encode())
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
while not over():
    step()
url = "http://127.0.0.1:%d/hello" % server.server_port
assert urllib.request.urlopen(url).read() == b"/hello"
os._exit(5)
END

if python3 -c 'import numpy' 2>/dev/null; then
	python numpy <<'END'
import numpy, os
signal.signal(signal.SIGTERM, lambda *x: terms.append(1))
def work(a): return numpy.tanh(a @ a.T / 300)
a = numpy.random.default_rng(1).random((300, 300)); n = 0
while not over():
    a = work(a); n += 1
    step()
b = numpy.random.default_rng(1).random((300, 300))
for i in range(n): b = work(b)
assert numpy.array_equal(a, b)
os._exit(5)
END
else
	skip 'no numpy'
fi

# --- what changes while the job is only an image ---------------------------------------------------
stored() { # NAME COMMAND: a job with one image; its number is $job
	job=$((job + 1))
	out=$gq_dir/work/$job.out
	printf '#!/bin/sh\nexec %s\n' "$2" >"$gq_dir/$1"
	drive <<END
start $job 1 0 $gq_dir/$1
lines $out 3
store $job 1
wait stored $job 1
END
}

resumed() { # NAME: it is restored and ends well
	drive <<END
start $job 2 1 $gq_dir/x
wait started $job 2
grows $out
signal $job 2 15
wait exited $job 2
END
	like "$1: it goes on" "$said" "^exited $job 2 code=5 signal=0"
}

refused() { # NAME REGEX: it is not restored, and the image stays
	drive <<END
start $job 2 1 $gq_dir/x
wait restore-failed $job 2
has $job 1
END
	like "$1: the reason" "$said" "^restore-failed $job 2 .*text=$2"
	like "$1: the image stays" "$said" "^has $job 1 yes"
}
: >"$gq_dir/x"

stored grown "$kinds plain"
echo 'a line of somebody else' >>"$out"
resumed 'an output that grew'

stored cut "$kinds plain"
: >"$out"
resumed 'an output that was emptied'

stored mode "$kinds plain"
chmod 600 "$out"
refused 'an output with another mode' 'restore: .*bad mode'

cp "$kinds" "$gq_dir/program"
stored upgrade "$gq_dir/program plain"
cp "$kinds" "$gq_dir/program.new"
echo longer >>"$gq_dir/program.new"
mv "$gq_dir/program.new" "$gq_dir/program"
refused 'a program that was upgraded' 'restore: .*program'

stored data "$kinds mapped"
truncate -s 4096 kind.data
refused 'a mapped file that shrank' 'restore: .*kind.data'

# --- two of one image, side by side: the second by a gqd of its own
stored twins "$kinds threads"
drive <<END
start $job 2 1 $gq_dir/x
wait started $job 2
END
mkdir "$gq_dir/other" "$gq_dir/other/run" "$gq_dir/other/state" "$gq_dir/other/work"
GQ_TEST_IMAGES=$gq_dir/images timeout 100 "$driver" "$gq_dir/other" >"$gq_dir/said" 2>&1 <<END
start $job 2 1 $gq_dir/x
wait started $job 2
grows $out
signal $job 2 15
wait exited $job 2
END
like 'two restores of one image: the second ends well' "$(cat "$gq_dir/said")" "^exited $job 2 code=5"
drive <<END
adopt $job 2
wait started $job 2
grows $out
signal $job 2 15
wait exited $job 2
END
like 'two restores of one image: the first goes on, and ends well' "$said" "^exited $job 2 code=5"
done_testing
