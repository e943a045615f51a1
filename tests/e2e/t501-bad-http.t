#!/bin/sh
# SPDX-License-Identifier: MIT
# t501-bad-http.t - broken, huge, slow and greedy clients: one clear line each, and others are served
. "$(dirname "$0")/../lib/gq.sh"
need_programs python3 curl jq
sim_cards 2 80G
gqd_start 'min_fill_granularity = "1s";' 'monitor: { idle_hold = "0s"; };'

code() { curl -sS -o body -w '%{http_code}' --unix-socket "$GQ_SOCKET" "$@" 2>/dev/null; }
says() { jq -r .error.message body; }
one_line() { [ "$(says | wc -l)" = 1 ] && [ -n "$(jq -r .error.code body)" ]; }
bad() { # WORDS CODE curl-arguments
	bad_what=$1
	bad_code=$2
	shift 2
	is "$bad_what: $bad_code" "$(code "$@")" "$bad_code"
	ok "$bad_what: in one line" one_line
}

jobs=http://gq/v1/jobs
bad 'truncated JSON' 400 $jobs -d '{"script":"#!/bin/sh'
bad 'no JSON' 400 $jobs -d 'script=true'
bad 'a duplicate key' 400 $jobs -d '{"name":"a","name":"b","script":"#!/bin/sh\n","cwd":"/"}'
bad 'an unknown key' 400 $jobs -d '{"nonsense":1,"script":"#!/bin/sh\n","cwd":"/"}'
like 'is named' "$(says)" nonsense
bad 'a wrong type' 400 $jobs -d '{"gpus":"many","script":"#!/bin/sh\n","cwd":"/"}'
bad 'a NUL' 400 $jobs -d '{"name":"a\u0000b","script":"#!/bin/sh\n","cwd":"/"}'
printf '{"name":"\377","script":"#!/bin/sh\\n","cwd":"/"}' >utf8
bad 'invalid UTF-8' 400 $jobs --data-binary @utf8
python3 -c 'print("[" * 100000 + "]" * 100000)' >deep
bad 'deep JSON' 400 $jobs --data-binary @deep
python3 -c 'print("{\"a\":" * 100000)' >deep
bad 'deep objects' 400 $jobs --data-binary @deep
head -c 9000000 /dev/zero | tr '\0' ' ' >huge
bad 'a body over 8 MiB' 413 $jobs --data-binary @huge
bad 'a body in chunks' 411 $jobs -H 'Transfer-Encoding: chunked' -d '{}'
bad 'a wrong method' 405 -X PATCH $jobs
bad 'an unknown path' 404 http://gq/v2/jobs
bad 'an unknown query' 400 "$jobs?frob=1"
head -c 20000 /dev/zero | tr '\0' x >header
bad 'a huge header' 431 $jobs -H "X: $(cat header)"
bad 'VRAM that no card has' 422 $jobs -d '{"vram":"90G","script":"#!/bin/sh\ntrue\n","cwd":"/"}'
bad 'cards that are not there' 422 $jobs -d '{"gpus":3,"script":"#!/bin/sh\ntrue\n","cwd":"/"}'
bad 'a reservation of nothing' 400 http://gq/v1/reservations -d '{"in":"1h"}'
bad 'a reservation with a bad time' 400 http://gq/v1/reservations -d '{"in":"soon","count":1}'
bad 'a reservation of an unknown card' 400 http://gq/v1/reservations -d '{"in":"1h","cards":["9"]}'
is 'Expect: 100-continue is answered' "$(code -H 'Expect: 100-continue' $jobs -d '{"script":"#!/bin/sh\ntrue\n","cwd":"/tmp"}')" 200
is 'nothing of the refused was kept' "$(gqctl jobs -a --json | jq length)" 1

cat >greedy.py <<'EOF_PY'
import os, resource, socket, sys, time

path = os.environ["GQ_SOCKET"]
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
PING = b"GET /v1/ping HTTP/1.1\r\nConnection: close\r\n\r\n"


def dial():
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s


def read_all(s):
    s.settimeout(60)
    out = b""
    while True:
        try:
            got = s.recv(65536)
        except ConnectionResetError:
            return out
        if not got:
            return out
        out += got


def ping():
    s = dial()
    s.sendall(PING)
    return b" 200 OK" in read_all(s)


what = sys.argv[1]
if what == "slow":  # a byte now and then: never whole
    s = dial()
    s.sendall(b"GET /v1/ping HTT")
    fine = ping()
    s.settimeout(1)
    out = b""
    while not out:
        try:
            s.sendall(b"P")
            out = s.recv(65536)
        except socket.timeout:
            continue
        except BrokenPipeError:
            break
    print(out.split(b"\r\n")[0].decode(), fine)
elif what == "many":
    conns, refused = [], 0
    for i in range(int(sys.argv[2])):
        s = socket.socket(socket.AF_UNIX)
        s.setblocking(False)
        if s.connect_ex(path) != 0:
            refused += 1
            s.close()
            continue
        conns.append(s)
    for s in conns[:100]:
        s.close()
    print(len(conns) + refused, ping())
elif what == "deaf":  # asks and asks, and reads nothing
    s = dial()
    s.setblocking(False)
    sent = 0
    end = time.time() + 20
    while time.time() < end:
        try:
            sent += s.send(b"GET /v1/openapi.json HTTP/1.1\r\n\r\n" * 100)
        except BlockingIOError:
            break
    print(sent < 100 << 20, ping())
EOF_PY
is 'a slow client is cut off, others are served' "$(python3 greedy.py slow)" 'HTTP/1.1 408 Request Timeout True'
is 'a client that does not read holds up nobody' "$(python3 greedy.py deaf)" 'True True'
is '10,000 connections' "$(python3 greedy.py many 10000)" '10000 True'
ok 'and afterwards all is well' 'gqctl ping'
ok 'gqd is small again' '[ "$(awk "/VmRSS/ {print \$2}" /proc/"$gqd_pid"/status)" -lt 102400 ]'
id=$(gq_submit --wrap true)
ok 'a job runs as if nothing had been' "gqctl wait $id --state CD --timeout 30"
done_testing
