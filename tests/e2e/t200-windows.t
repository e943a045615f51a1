#!/bin/sh
# SPDX-License-Identifier: MIT
# t200-windows.t - which windows are lent, and to whom not
. "$(dirname "$0")/../lib/gq.sh"
need_programs jq
sim_cards 2 80G
gqd_start 'min_fill_granularity = "60s";' 'monitor: { idle_hold = "0s"; };' \
	'services: { chat: { cards = ["0"]; reserve_vram = "60G"; }; };'
reason() { gqctl job "$1" --json | jq -r .reason; }

# what no card can ever hold is refused at submit
out=$(gqsub --vram 90G --wrap true 2>&1)
is 'vram beyond every card: status 1' $? 1
like 'and the line says what is possible' "$out" 'vram: asked for 92160 MiB.*32768 of its 81920'
out=$(gqsub --gpus 3 --wrap true 2>&1)
is 'three cards on a box of two: status 1' $? 1
like 'and why' "$out" 'gpus: asked for 3, this machine has 2'

# 80G with 60G always reserved leaves 20G on card 0; card 1 may lend 40 % = 32G
is 'card 0 lends what the service leaves' "$(gqctl windows --json | jq '.[0].vram_mib')" 20480
is 'card 1 lends the offline share' "$(gqctl windows --json | jq '.[1].vram_mib')" 32768
big=$(gq_submit --vram 30G --wrap 'sleep 60')
ok 'a job of 30G starts' "gqctl wait $big --state R --timeout 10"
is 'on card 1' "$(gqctl job "$big" --json | jq -c .cards)" '[1]'
more=$(gq_submit --vram 30G --wrap 'sleep 60')
is 'the next of 30G waits for VRAM' "$(reason "$more")" VramReserved
small=$(gq_submit --vram 10G --wrap 'sleep 60')
ok 'one of 10G fits beside the service' "gqctl wait $small --state R --timeout 10"
gqctl cancel "$big" "$more" "$small"
ok 'they end' "gqctl wait $big --state CA --timeout 20 && gqctl wait $small --state CA --timeout 20"

# a window shorter than the threshold lends nothing; unreserving opens it
r=$(gqctl reserve --in 50s --duration 1h --cards 0,1 | tr -dc 0-9)
wait=$(gq_submit --vram 1G --wrap true)
is 'a window of 50 s is too short for the pool' "$(reason "$wait")" WindowTooShort
like 'and gqctl job says so with numbers' "$(gqctl job "$wait")" 'window'
is 'gqctl windows offers nothing' "$(gqctl windows --json | jq -c '[.[].lendable]')" '[false,false]'
gqctl unreserve "$r"
ok 'without the reservation it runs' "gqctl wait $wait --state CD --timeout 10"

# --time-min against a later reservation
gqctl reserve --in 10m --duration 1h --cards 0,1 >/dev/null
long=$(gq_submit --vram 1G --time-min 1h --wrap true)
short=$(gq_submit --vram 1G --time-min 2min --wrap true)
ok 'the short one runs' "gqctl wait $short --state CD --timeout 10"
is 'the long one waits' "$(reason "$long")" WindowTooShort
none=$(gq_submit --vram 1G --checkpoint none -t 60 --wrap true)
is 'a job that cannot be kept needs its whole time' "$(reason "$none")" WindowTooShort

# hold, release, begin
gqctl cancel "$long" "$none"
held=$(gq_submit -H --vram 1G --wrap true)
is 'held by its user' "$(reason "$held")" JobHeldUser
gqctl release "$held"
ok 'released, it runs' "gqctl wait $held --state CD --timeout 10"
later=$(gq_submit -b now+1hour --vram 1G --wrap true)
is 'not before its time' "$(reason "$later")" BeginTime
soon=$(gq_submit -b now+1 --vram 1G --wrap true)
ok 'a second later it runs by itself' "gqctl wait $soon --state CD --timeout 10"

# a foreign process makes a card unmanaged
gq-simgpu -f "$GQ_SIMGPU" hold 1 --vram 5G >hold.out 2>&1 &
holder=$!
ok 'a card held by a stranger is unmanaged' \
	"wait_for 'gqctl gpus --json | jq -e \".[1].state == \\\"unmanaged\\\"\"' 10"
like 'gqctl windows names it' "$(gqctl windows --json | jq -r '.[1].why')" 'unmanaged: process [0-9]+'
kill $holder
ok 'and is lent again when it is gone' \
	"wait_for 'gqctl gpus --json | jq -e \".[1].state == \\\"idle\\\"\"' 10"

# a service that fell silent counts as in use, and is called by its name
gqctl services put quiet --cards 1 --lease 1s
ok 'a lost lease is named' \
	"wait_for 'gqctl windows --json | jq -r .[1].why | grep \"^service quiet lost its lease\"' 10"
done_testing
