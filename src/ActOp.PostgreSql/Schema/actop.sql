-- Tables of ActOp on PostgreSQL, version 1. Silos and clients run this script at start if the version in actop_schema is lower.
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

insert into actop_schema (version) values (1) on conflict do nothing;
