-- Tables of ActOp on PostgreSQL, version 2 (1: membership, states, reminders; 2: streams, grain directory). Silos and clients run this script at start if the version in actop_schema is lower.
-- It may also be run by hand (psql -f actop.sql) by a role that may create tables; then silos need no more than
-- select, insert, update and delete. It may run any number of times, and at the same time.
select pg_advisory_xact_lock(280967958640);

create table if not exists actop_schema (
  version int primary key,
  applied timestamptz not null default now()
);

-- Membership: one row per cluster. version and view are the numbers of the compare-and-swap; table_id tells a new table from an old one.
create table if not exists actop_cluster (
  cluster_id text collate "C" primary key,
  table_id bigint not null,
  version bigint not null default 0,
  view bigint not null default 0
) with (fillfactor = 50);

-- One row per silo. The times are for people; the protocol compares counters only.
create table if not exists actop_silo (
  cluster_id text collate "C" not null,
  silo text collate "C" not null,
  name text not null,
  status int not null,
  gateway text,
  cause int not null,
  votes text[] not null,
  heartbeat bigint not null,
  changed_at bigint not null,
  changed timestamptz not null default now(),
  seen timestamptz not null default now(),
  primary key (cluster_id, silo)
) with (fillfactor = 50);

-- Grain storage: one row per state. version is the ETag: a number that no other write has. data is null after a clear that keeps the row.
create table if not exists actop_state (
  service_id text collate "C" not null,
  state_name text collate "C" not null,
  grain_id text collate "C" not null,
  version bigint not null,
  data bytea,
  changed timestamptz not null default now(),
  primary key (service_id, state_name, grain_id)
) with (fillfactor = 80);

-- Reminders: hash is the position of the grain, by which silos read the reminders of their ranges. Times are in ticks of 100 ns since the
-- year 1, so that nothing is rounded.
create table if not exists actop_reminder (
  service_id text collate "C" not null,
  grain_id text collate "C" not null,
  name text collate "C" not null,
  hash bigint not null,
  start_ticks bigint not null,
  period_ticks bigint not null,
  version bigint not null,
  primary key (service_id, grain_id, name)
);

create index if not exists actop_reminder_hash on actop_reminder (service_id, hash);

-- slot is the place of the grain in the directory: each silo reads the slots that it owns. By the database, so that silos of version 1 need
-- not know it.
alter table actop_reminder add column if not exists slot int
  generated always as (div((hash::numeric * 2654435761) % 4294967296, 1048576)::int) stored;

create index if not exists actop_reminder_slot on actop_reminder (service_id, slot);

-- Streams. One row per queue for its producers: next is the number of the next message. A producer locks the row from the numbering of its
-- messages to their commit. So numbers are committed in order, and who has read up to a number has missed nothing before it.
create table if not exists actop_stream_queue (
  id bigint generated always as identity primary key,
  service_id text collate "C" not null,
  provider text collate "C" not null,
  queue int not null,
  next bigint not null default 1,
  unique (service_id, provider, queue)
) with (fillfactor = 50);

-- One row per queue for the agent that reads it. epoch is the receipt: who claims the queue takes the next number, and only who has the
-- newest one may confirm. What is above confirmed_to and not above read_to is with the agent.
create table if not exists actop_stream_reader (
  queue_id bigint primary key,
  epoch bigint not null default 0,
  owner text,
  lease_until timestamptz not null default now(),
  read_to bigint not null default 0,
  confirmed_to bigint not null default 0
) with (fillfactor = 50);

-- Messages that were not confirmed. attempts counts the agents that have had the message and were lost.
create table if not exists actop_stream_message (
  queue_id bigint not null,
  number bigint not null,
  namespace bytea not null,
  key bytea not null,
  created timestamptz not null default now(),
  expires timestamptz not null,
  attempts int not null default 0,
  payload bytea not null,
  primary key (queue_id, number)
);

-- What may have ended the agents that had it.
create index if not exists actop_stream_message_lost on actop_stream_message (queue_id, number) where attempts > 0;

-- Messages that were given up, and why, until remove_at.
create table if not exists actop_stream_dead (
  queue_id bigint not null,
  number bigint not null,
  namespace bytea not null,
  key bytea not null,
  created timestamptz not null,
  attempts int not null,
  payload bytea not null,
  reason text not null,
  died timestamptz not null default now(),
  remove_at timestamptz not null,
  primary key (queue_id, number)
);

create index if not exists actop_stream_dead_remove on actop_stream_dead (queue_id, remove_at);

-- Grain directory: one row per activation that is registered.
create table if not exists actop_directory (
  cluster_id text collate "C" not null,
  directory text collate "C" not null,
  grain_id text collate "C" not null,
  silo text collate "C" not null,
  activation text collate "C" not null,
  view bigint not null,
  primary key (cluster_id, directory, grain_id)
);

create index if not exists actop_directory_silo on actop_directory (cluster_id, directory, silo);

insert into actop_schema (version) values (1), (2) on conflict do nothing;
