-- SPDX-License-Identifier: MIT
-- schema.sql - the present shape of gq.db, for new files; older files get there by migrations/
-- SQLite keeps these comments: `sqlite3 gq.db .schema` explains the file to whoever opens it.
-- Times are ns since the epoch (0 = never happened), durations ns, 9223372036854775807 = no end.
-- Words (state, reason, cause, …) are names, not numbers, so that renumbering an enum breaks no file.

CREATE TABLE jobs (
	id INTEGER PRIMARY KEY,
	ended INTEGER NOT NULL,         -- 1 = state is a final one; kept by the store, for the indexes
	incarnation INTEGER NOT NULL,   -- of the running or last run; 0 before the first start
	image INTEGER NOT NULL,         -- incarnation whose image can be restored; 0 = none
	state TEXT NOT NULL,            -- first column of job_state.def
	reason TEXT NOT NULL,           -- second column of reason.def
	checkpoint TEXT NOT NULL,       -- auto, app, none
	exit_saved INTEGER NOT NULL,    -- exit code that means: saved myself, run me again
	signal INTEGER NOT NULL,        -- sent at notice; 0 = none
	cause TEXT NOT NULL,            -- why it leaves, while it leaves
	after TEXT NOT NULL,            -- move that the exit of an ENDING job makes (job_state.def)
	requeue INTEGER NOT NULL,       -- 1 = may be started again from its beginning
	restored INTEGER NOT NULL,      -- 1 = this incarnation came from the image
	sudden INTEGER NOT NULL,        -- 1 = this eviction came without enough notice
	hold_after INTEGER NOT NULL,    -- 1 = stays held once it left
	level INTEGER NOT NULL,         -- -1 low, 0 normal, 1 high
	store_tries INTEGER NOT NULL,
	restore_tries INTEGER NOT NULL,
	start_tries INTEGER NOT NULL,
	gpus INTEGER NOT NULL,          -- cards asked for
	cards TEXT NOT NULL,            -- indexes of the cards it has: 0,3
	uid INTEGER NOT NULL,
	gid INTEGER NOT NULL,
	priority INTEGER NOT NULL,
	exit_code INTEGER NOT NULL,
	exit_signal INTEGER NOT NULL,   -- 0 = none
	vram_mib INTEGER NOT NULL,      -- MiB per card; 0 = what the card may lend
	rss_mib INTEGER NOT NULL,       -- MiB of host memory as last seen; 0 = not seen
	signal_before INTEGER NOT NULL, -- duration before the end of the exit period
	time_limit INTEGER NOT NULL,    -- duration
	time_min INTEGER NOT NULL,      -- duration, smallest useful window; 0 = the pool's
	grace INTEGER NOT NULL,         -- duration, exit period asked for; no end = the pool's
	begin_at INTEGER NOT NULL,      -- not before
	submitted_at INTEGER NOT NULL,
	started_at INTEGER NOT NULL,
	ended_at INTEGER NOT NULL,
	run_since INTEGER NOT NULL,     -- start of the present computing; 0 = does not compute
	ran INTEGER NOT NULL,           -- duration, computing of earlier incarnations that counts
	ran_saved INTEGER NOT NULL,     -- duration, computing that is safe in an image or its own save
	lost INTEGER NOT NULL,          -- duration, computing that had to be done again
	store_cost INTEGER NOT NULL,    -- duration, last measured; 0 = never
	restore_cost INTEGER NOT NULL,  -- duration, last measured; 0 = never
	evictions INTEGER NOT NULL,     -- times it was told to leave
	requeues INTEGER NOT NULL,      -- times it was started from its beginning again
	eviction INTEGER NOT NULL,      -- id of its eviction row while it leaves; 0 = none
	notice_at INTEGER NOT NULL,
	store_at INTEGER NOT NULL,
	due_at INTEGER NOT NULL,
	kill_at INTEGER NOT NULL,
	version INTEGER NOT NULL,       -- grows with every change of any job
	name TEXT,
	account TEXT,
	gpu_type TEXT,
	error TEXT                      -- the last failure, one line
);
CREATE INDEX jobs_live ON jobs (id) WHERE ended = 0;
CREATE INDEX jobs_ended ON jobs (ended_at) WHERE ended = 1;
CREATE INDEX jobs_ended_uid ON jobs (uid, ended_at) WHERE ended = 1;

CREATE TABLE specs (
	job INTEGER PRIMARY KEY,        -- jobs.id
	json BLOB NOT NULL              -- the whole submission: script, environment, limits
);

CREATE TABLE services (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	uid INTEGER NOT NULL,           -- who registered it
	from_config INTEGER NOT NULL,   -- 1 = stands in the configuration
	state TEXT NOT NULL,            -- as it said last
	lease_lost INTEGER NOT NULL,    -- 1 = did not renew in time: counts as in use
	cards TEXT NOT NULL,
	reserve_mib INTEGER NOT NULL,   -- MiB per card that are always its own
	lease INTEGER NOT NULL,         -- duration; 0 = it need not renew
	lease_until INTEGER NOT NULL,
	notice INTEGER NOT NULL,        -- duration, the least its reservations give; 0 = not said
	changed_at INTEGER NOT NULL
);

CREATE TABLE reservations (
	id INTEGER PRIMARY KEY,
	ended INTEGER NOT NULL,         -- 1 = over or deleted; kept by the store
	service INTEGER NOT NULL,       -- services.id; 0 = an operator's own
	uid INTEGER NOT NULL,
	state TEXT NOT NULL,
	repeat TEXT NOT NULL,           -- none, daily, weekly
	sudden INTEGER NOT NULL,        -- 1 = made with less notice than a job needed to leave
	cards TEXT NOT NULL,
	vram_mib INTEGER NOT NULL,      -- MiB per card; 0 = the whole card
	created_at INTEGER NOT NULL,
	start INTEGER NOT NULL,         -- of the present occurrence, as all below
	"end" INTEGER NOT NULL,
	free_at INTEGER NOT NULL,       -- when its cards were free; 0 = not yet
	late INTEGER NOT NULL,          -- duration, free_at after start
	utc_offset_s INTEGER NOT NULL   -- seconds, local time minus UTC when it was made
);
CREATE INDEX reservations_open ON reservations (id) WHERE ended = 0;

CREATE TABLE evictions (
	id INTEGER PRIMARY KEY,
	ended INTEGER NOT NULL,         -- 1 = the job has left; kept by the store
	job INTEGER NOT NULL,           -- jobs.id
	incarnation INTEGER NOT NULL,
	cause TEXT NOT NULL,            -- why it had to leave
	how TEXT NOT NULL,              -- how it left
	sudden INTEGER NOT NULL,        -- 1 = without enough notice
	cards TEXT NOT NULL,
	ref INTEGER NOT NULL,           -- the reservation or service that caused it
	notice_at INTEGER NOT NULL,
	due_at INTEGER NOT NULL,        -- 0 = as soon as possible
	predicted_free_at INTEGER NOT NULL,
	free_at INTEGER NOT NULL,
	late INTEGER NOT NULL,          -- duration, free_at after due_at
	lost INTEGER NOT NULL,          -- duration, computing thrown away
	error TEXT                      -- why the first choice did not work
);
CREATE INDEX evictions_open ON evictions (id) WHERE ended = 0;
CREATE INDEX evictions_job ON evictions (job);

CREATE TABLE cards (
	"index" INTEGER PRIMARY KEY,
	uuid TEXT NOT NULL,
	model TEXT NOT NULL,
	labels TEXT,                    -- comma separated
	mem_total_mib INTEGER NOT NULL,
	present INTEGER NOT NULL,       -- 1 = the driver shows it
	fault INTEGER NOT NULL,
	busy INTEGER NOT NULL,
	foreign_pid INTEGER NOT NULL,   -- a process that is not ours; 0 = none
	foreign_mib INTEGER NOT NULL,
	foreign_name TEXT NOT NULL,
	idle_since INTEGER NOT NULL
);

CREATE TABLE audit (
	at INTEGER NOT NULL,
	kind TEXT NOT NULL,             -- of what: job, card, service, reservation, daemon
	id INTEGER NOT NULL,            -- of that kind
	uid INTEGER NOT NULL,           -- who asked; 4294967295 = gqd itself
	text TEXT NOT NULL
);
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_of ON audit (kind, id);

-- Ids are never given out twice, also after the rows that had them were removed.
CREATE TABLE last_ids (
	tbl TEXT PRIMARY KEY,
	id INTEGER NOT NULL             -- the largest id that was ever removed from that table
) WITHOUT ROWID;
