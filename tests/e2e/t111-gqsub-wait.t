#!/bin/sh
# SPDX-License-Identifier: MIT
# t111-gqsub-wait.t - gqsub against a gqd that is played: answers, refusals, --wait also over a restart
# shellcheck source=tests/lib/gq.sh
. "$(dirname "$0")/../lib/gq.sh"
need_programs python3
gq_tmp

# Plays one answer per request, in order; "down" takes the socket away until the file `up` is there.
cat >server.py <<'PY'
import http.server, json, os, socket, socketserver, sys, time
path, log = os.environ["GQ_SOCKET"], open("requests", "a")
answers = json.load(open(sys.argv[1]))

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        print(self.command, self.path, file=log, flush=True)
        status, reply = answers.pop(0)
        text = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()
        if not answers or answers[0] == "down":
            self.close_connection = True
    do_GET = do_POST = answer
    def log_message(self, *args): pass
    def address_string(self): return "unix"

class Server(socketserver.UnixStreamServer):
    def get_request(self):
        return super().get_request()[0], ("unix", 0)

while answers:
    if os.path.exists(path): os.unlink(path)
    server = Server(path, Handler)
    open("ready", "w").close()
    while answers and answers[0] != "down":
        server.handle_request()
    server.server_close()
    if answers:
        os.unlink(path)
        answers.pop(0)
        while not os.path.exists("up"): time.sleep(0.02)
PY

# play JSON: a server with these answers
play() {
	rm -f ready up requests
	printf '%s' "$1" >answers
	python3 server.py answers >server.log 2>&1 &
	server=$!
	wait_for 'test -e ready'
}
played() { wait "$server"; }
job() { # STATE VERSION [MORE]
	printf '[200, {"job_id": 5, "state_name": "%s", "version": %d, "reason": "None", "ended": false%s}]' \
		"$1" "$2" "${3:-}"
}

play '[[200, {"job_id": 17}]]'
is 'Submitted batch job' "$(gqsub --wrap true)" 'Submitted batch job 17'
played
is 'one request' "$(cat requests)" 'POST /v1/jobs'
play '[[200, {"job_id": 18}]]'
is '--parsable' "$(gqsub --parsable --wrap true)" 18
played
play '[[200, {"job_id": 19}]]'
is '-Q' "$(gqsub -Q --wrap true 2>&1)" ''
played

play '[[422, {"error": {"code": "E2BIG", "message": "vram: asked for 90 GiB, no card has more than 80 GiB"}}]]'
out=$(gqsub --wrap true 2>&1)
is 'a refusal gives 1' $? 1
is 'and is repeated word for word' "$out" 'gqsub: vram: asked for 90 GiB, no card has more than 80 GiB'
played
play '[[200, {"job_id": null, "message": "would wait: WindowTooShort"}]]'
is '--test-only' "$(gqsub --test-only --wrap true 2>&1)" 'gqsub: would wait: WindowTooShort'
played
is 'asks only' "$(cat requests)" 'POST /v1/jobs?test_only=1'
play '[[200, {"ok": true}]]'
like 'an answer without a number' "$(gqsub --wrap true 2>&1)" 'names no job_id'
played

play "[[200, {\"job_id\": 5}], $(job PENDING 3 ', "reason": "WindowTooShort"'), $(job RUNNING 4),
	$(job RUNNING 5), $(job COMPLETED 9 ', "ended": true, "exit_code": 0, "exit_signal": null')]"
out=$(gqsub --wait --wrap true 2>err)
is '--wait: the exit code' $? 0
is '--wait: the number first' "$out" 'Submitted batch job 5'
is '--wait: each change once' "$(sed 's/^..:..:.. //' err)" 'job 5: PENDING (WindowTooShort)
job 5: RUNNING
job 5: COMPLETED'
played
is '--wait: long polls on the version' "$(sed -n '2p;$p' requests)" 'GET /v1/jobs/5?wait_version=0&timeout=30
GET /v1/jobs/5?wait_version=5&timeout=30'

for row in '3 "exit_code": 3, "exit_signal": null' '1 "exit_code": null, "exit_signal": 9' \
	'1 "exit_code": null, "exit_signal": null' '85 "exit_code": 85'; do
	play "[[200, {\"job_id\": 5}], $(job FAILED 9 ", \"ended\": true, ${row#* }")]"
	gqsub -W -Q --wrap true
	is "--wait: ${row#* }" $? "${row%% *}"
	played
done

play "[[200, {\"job_id\": 5}], $(job RUNNING 4), \"down\", $(job COMPLETED 9 ', "ended": true, "exit_code": 0')]"
gqsub --wait --wrap true >/dev/null 2>err &
pid=$!
wait_for 'grep -q "still waiting" err'
touch up
wait "$pid"
is '--wait goes on over a restart of gqd' $? 0
is 'and says so once' "$(grep -c 'still waiting' err)" 1
played
play '[[200, {"job_id": 5}], [404, {"error": {"code": "ENOENT", "message": "job 5: there is none"}}]]'
out=$(gqsub --wait --wrap true 2>&1 >/dev/null)
is 'a job that vanished' "$?$out" '1gqsub: job 5: there is none'
played
done_testing
