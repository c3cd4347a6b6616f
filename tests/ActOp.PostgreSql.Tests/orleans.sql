-- The tables of Orleans for states and reminders in PostgreSQL as tests need them: names, types and queries of PostgreSQL-Main.sql,
-- PostgreSQL-Persistence.sql and PostgreSQL-Reminders.sql of Orleans 10. In production, take those scripts.
create table OrleansQuery (
  QueryKey varchar(64) primary key,
  QueryText varchar(8000) not null
);

-- No key: as in the script of Orleans, nothing but the query that writes excludes two rows of one state.
create table OrleansStorage (
  GrainIdHash integer not null,
  GrainIdN0 bigint not null,
  GrainIdN1 bigint not null,
  GrainTypeHash integer not null,
  GrainTypeString varchar(512) not null,
  GrainIdExtensionString varchar(512),
  ServiceId varchar(150) not null,
  PayloadBinary bytea,
  ModifiedOn timestamp without time zone not null,
  Version integer
);

create index ix_orleansstorage on OrleansStorage (GrainIdHash, GrainTypeHash);

create function WriteToStorage(
  _GrainIdHash integer, _GrainIdN0 bigint, _GrainIdN1 bigint, _GrainTypeHash integer, _GrainTypeString varchar,
  _GrainIdExtensionString varchar, _ServiceId varchar, _GrainStateVersion integer, _PayloadBinary bytea)
returns table (NewGrainStateVersion integer) language plpgsql as $$
declare
  _rows integer;
begin
  if _GrainStateVersion is not null then
    update OrleansStorage set PayloadBinary = _PayloadBinary, ModifiedOn = now() at time zone 'utc', Version = Version + 1
    where GrainIdHash = _GrainIdHash and GrainTypeHash = _GrainTypeHash and GrainIdN0 = _GrainIdN0 and GrainIdN1 = _GrainIdN1
    and GrainTypeString = _GrainTypeString and GrainIdExtensionString is not distinct from _GrainIdExtensionString
    and ServiceId = _ServiceId
    and Version = _GrainStateVersion;
    get diagnostics _rows = row_count;
    return query select _GrainStateVersion + case when _rows > 0 then 1 else 0 end;
  else
    insert into OrleansStorage
    select _GrainIdHash, _GrainIdN0, _GrainIdN1, _GrainTypeHash, _GrainTypeString, _GrainIdExtensionString, _ServiceId, _PayloadBinary,
      now() at time zone 'utc', 1
    where not exists (select 1 from OrleansStorage where GrainIdHash = _GrainIdHash and GrainTypeHash = _GrainTypeHash and GrainIdN0 = _GrainIdN0 and GrainIdN1 = _GrainIdN1
    and GrainTypeString = _GrainTypeString and GrainIdExtensionString is not distinct from _GrainIdExtensionString
    and ServiceId = _ServiceId);
    get diagnostics _rows = row_count;
    return query select case when _rows > 0 then 1 end;
  end if;
end $$;

insert into OrleansQuery values
('WriteToStorageKey', 'select * from WriteToStorage(@GrainIdHash, @GrainIdN0, @GrainIdN1, @GrainTypeHash, @GrainTypeString,
    @GrainIdExtensionString, @ServiceId, @GrainStateVersion, @PayloadBinary);'),
('ReadFromStorageKey', 'select PayloadBinary, (now() at time zone ''utc''), Version from OrleansStorage
    where GrainIdHash = @GrainIdHash and GrainTypeHash = @GrainTypeHash and GrainIdN0 = @GrainIdN0 and GrainIdN1 = @GrainIdN1
    and GrainTypeString = @GrainTypeString and GrainIdExtensionString is not distinct from @GrainIdExtensionString
    and ServiceId = @ServiceId'),
('ClearStorageKey', 'update OrleansStorage set PayloadBinary = null, Version = Version + 1
    where GrainIdHash = @GrainIdHash and GrainTypeHash = @GrainTypeHash and GrainIdN0 = @GrainIdN0 and GrainIdN1 = @GrainIdN1
    and GrainTypeString = @GrainTypeString and GrainIdExtensionString is not distinct from @GrainIdExtensionString
    and ServiceId = @ServiceId and Version = @GrainStateVersion
    returning Version as NewGrainStateVersion'),
('DeleteStorageKey', 'delete from OrleansStorage
    where GrainIdHash = @GrainIdHash and GrainTypeHash = @GrainTypeHash and GrainIdN0 = @GrainIdN0 and GrainIdN1 = @GrainIdN1
    and GrainTypeString = @GrainTypeString and GrainIdExtensionString is not distinct from @GrainIdExtensionString
    and ServiceId = @ServiceId and Version = @GrainStateVersion
    returning Version + 1 as NewGrainStateVersion');

create table OrleansRemindersTable (
  ServiceId varchar(150) not null,
  GrainId varchar(150) not null,
  ReminderName varchar(150) not null,
  StartTime timestamptz(3) not null,
  Period bigint not null,
  GrainHash integer not null,
  Version integer not null,
  primary key (ServiceId, GrainId, ReminderName)
);

create function upsert_reminder_row(
  _ServiceId varchar, _GrainId varchar, _ReminderName varchar, _StartTime timestamptz, _Period bigint, _GrainHash integer)
returns table (version integer) language sql as $$
  insert into OrleansRemindersTable values (_ServiceId, _GrainId, _ReminderName, _StartTime, _Period, _GrainHash, 0)
  on conflict (ServiceId, GrainId, ReminderName) do update set StartTime = excluded.StartTime, Period = excluded.Period,
    GrainHash = excluded.GrainHash, Version = OrleansRemindersTable.Version + 1
  returning Version $$;

create function delete_reminder_row(_ServiceId varchar, _GrainId varchar, _ReminderName varchar, _Version integer)
returns table (row_count integer) language sql as $$
  with gone as (delete from OrleansRemindersTable where ServiceId = _ServiceId and GrainId = _GrainId and ReminderName = _ReminderName
    and Version = _Version returning 1) select count(*)::integer from gone $$;

insert into OrleansQuery
select key, 'select GrainId, ReminderName, StartTime, Period, Version from OrleansRemindersTable where ServiceId = @ServiceId and ' || which
from (values
  ('ReadReminderRowsKey', 'GrainId = @GrainId;'),
  ('ReadReminderRowKey', 'GrainId = @GrainId and ReminderName = @ReminderName;'),
  ('ReadRangeRows1Key', 'GrainHash > @BeginHash and GrainHash <= @EndHash;'),
  ('ReadRangeRows2Key', '(GrainHash > @BeginHash or GrainHash <= @EndHash);')) as reads (key, which);

insert into OrleansQuery values
('UpsertReminderRowKey', 'select * from upsert_reminder_row(@ServiceId, @GrainId, @ReminderName, @StartTime, @Period::bigint, @GrainHash);'),
('DeleteReminderRowKey', 'select * from delete_reminder_row(@ServiceId, @GrainId, @ReminderName, @Version);'),
('DeleteReminderRowsKey', 'delete from OrleansRemindersTable where ServiceId = @ServiceId;');
