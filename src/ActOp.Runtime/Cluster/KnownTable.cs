using System.Net;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// What one silo knows of the membership table, part of <see cref="MembershipProtocol"/>. Owns the newest snapshot, the view made from it,
/// the time of the last confirmation, and how long each heartbeat has stood still.
/// </summary>
internal sealed class KnownTable(SiloAddress self, MembershipOptions options)
{
    private readonly Dictionary<SiloAddress, (long Count, long Since, bool HasMoved)> _beats = [];
    private long _readAt;
    private long _confirmedAt = long.MinValue / 2;

    /// <summary>The newest table that was read or received.</summary>
    public TableSnapshot Table { get; private set; } = TableSnapshot.Empty;

    /// <summary>The newest view.</summary>
    public View View { get; private set; } = View.Empty;

    /// <summary>The last time at which the table is known to have been at the known version or an older one.</summary>
    public long ConfirmedAt => _confirmedAt;

    /// <summary>Whether the table itself has answered once.</summary>
    public bool HasBeenRead => _confirmedAt > long.MinValue / 2;

    /// <summary>The row of this silo.</summary>
    public MembershipRow? Own => Table.FindRow(self);

    /// <summary>A row of a newer silo at the endpoint of this one.</summary>
    public SiloAddress? NewerGeneration
    {
        get
        {
            foreach (var row in Table.Rows)
            {
                if (SiloOrder.SameEndpoint(row.Silo, self) && row.Silo.Generation > self.Generation)
                    return row.Silo;
            }

            return null;
        }
    }

    /// <summary>Takes a table that is not older. Returns whether it is newer.</summary>
    public bool TakeTable(TableSnapshot table, long? confirmedAt, long now)
    {
        if (confirmedAt is not null)
            AllowForOutage(now);

        NoteHeartbeats(table, now);
        // Correct for gossip too: a silo that is alive in a newer version was alive at each earlier confirmation, as death is final.
        _confirmedAt = Math.Max(_confirmedAt, confirmedAt ?? _confirmedAt);
        var newer = table.Version > Table.Version;
        Table = table;
        return newer;
    }

    /// <summary>Makes the view of the table, if that is newer than the known one.</summary>
    public bool TryAdvanceView()
    {
        if (Table.View <= View.Number)
            return false;

        View = View.From(Table);
        return true;
    }

    /// <summary>Another silo has confirmed the known version at this time.</summary>
    public void Confirm(long at) => _confirmedAt = Math.Max(_confirmedAt, at);

    /// <summary>For how long the heartbeat of a silo had not moved when the table was last read.</summary>
    public long StillFor(SiloAddress silo) => _beats.TryGetValue(silo, out var seen) ? Math.Max(0, _readAt - seen.Since) : 0;

    /// <summary>Whether the heartbeat of a silo has moved since this silo first saw it: its process lived meanwhile.</summary>
    public bool HasBeaten(SiloAddress silo) => _beats.TryGetValue(silo, out var seen) && seen.HasMoved;

    // While the table does not answer, nobody's heartbeat moves: that time says nothing about anybody.
    private void AllowForOutage(long now)
    {
        var outage = now - _readAt - (2L * options.TableRefreshPeriod);
        if (_readAt != 0 && outage > 0)
        {
            foreach (var (silo, seen) in _beats.ToArray())
                _beats[silo] = seen with { Since = seen.Since + outage };
        }

        _readAt = now;
    }

    private void NoteHeartbeats(TableSnapshot table, long now)
    {
        foreach (var row in table.Rows)
        {
            if (!_beats.TryGetValue(row.Silo, out var seen))
                _beats[row.Silo] = (row.Heartbeat, now, false);
            else if (row.Heartbeat > seen.Count)
                _beats[row.Silo] = (row.Heartbeat, now, true);
        }

        if (_beats.Count > 2 * (table.Rows.Length + 1))
        {
            foreach (var silo in _beats.Keys.Where(silo => table.FindRow(silo) is null).ToArray())
                _beats.Remove(silo);
        }
    }
}

/// <summary>
/// The requests of one silo to the membership table, part of <see cref="MembershipProtocol"/>. Owns the request under way, of which there
/// is at most one, and the times of the next read and of the next attempt after a failure.
/// </summary>
internal sealed class TableRequests(MembershipOptions options, MembershipOutput output)
{
    private TableRequest? _pending;
    private long _pendingSince;
    private long _refreshDue;
    private long _retryAt;

    /// <summary>Whether a request may be sent now.</summary>
    public bool MaySend(long now) => _pending is null && now >= _retryAt;

    /// <summary>Reads the table as soon as possible.</summary>
    public void WantRead(long now) => _refreshDue = Math.Min(_refreshDue, now);

    /// <summary>Whether a read is due and may be sent. If so the next one is due a period later.</summary>
    public bool TryBeginRead(long now)
    {
        if (now < _refreshDue || !MaySend(now))
            return false;

        _refreshDue = now + options.TableRefreshPeriod;
        return true;
    }

    /// <summary>Sends a request.</summary>
    public void Send(TableRequest request, long now)
    {
        _pending = request;
        _pendingSince = now;
        output.Add(new MembershipAction.UseTable(request));
    }

    /// <summary>A reply arrived. Returns the request and its time if it was the one under way.</summary>
    public (TableRequest Request, long SentAt)? End(long requestId)
    {
        if (_pending is not { } pending || pending.Id != requestId)
            return null;

        _pending = null;
        return (pending, _pendingSince);
    }

    /// <summary>The table could not be reached, or did not answer in time.</summary>
    public void Fail(long requestId, long now)
    {
        if (_pending?.Id == requestId)
        {
            _pending = null;
            _retryAt = now + options.ProbePeriod;
            // The failed request may have been a read, so read again at the next attempt and not only when the period ends.
            _refreshDue = Math.Min(_refreshDue, _retryAt);
        }
    }

    /// <summary>Gives up a request that has waited too long.</summary>
    public void Tick(long now)
    {
        if (_pending is { } late && now - _pendingSince > options.TableTimeout)
            Fail(late.Id, now);
    }
}

/// <summary>The changes that one silo makes in the membership table: its own row, its votes, and stale rows.</summary>
internal sealed class DesiredChanges(
    SiloAddress self, string name, IPEndPoint? gateway, MembershipOptions options, KnownTable known, SiloProbes probes)
{
    /// <summary>When expired rows are looked for again. The only state.</summary>
    private long? _cleanupDue;

    /// <summary>The difference between the known table and the wanted one.</summary>
    public TableChange Collect(SiloStatus goal, long now)
    {
        var write = new TableChange();
        OwnRow(write, goal);
        if (known.Own is { Status: SiloStatus.Active })
        {
            Votes(write, now);
            AbandonedRows(write, now);
            TrimDead(write, now);
        }

        return write;
    }

    private void OwnRow(TableChange write, SiloStatus goal)
    {
        var row = known.Own;
        if (row is null)
        {
            foreach (var older in known.Table.Rows.Where(other => SiloOrder.SameEndpoint(other.Silo, self)))
                write.Remove(older.Silo);

            // Joining first, even if active is wanted already: the others see a silo before it is active.
            write.SetRow(new MembershipRow(self, name, SiloStatus.Joining, gateway), changesView: true);
        }
        else if (row.Status < goal)
        {
            write.SetRow(goal == SiloStatus.Dead ? row.AsDead(DeathCause.Graceful) : row with { Status = goal }, changesView: true);
        }
    }

    private void Votes(TableChange write, long now)
    {
        var witnesses = Witnesses(now);
        foreach (var row in known.Table.Rows)
        {
            if (!row.IsAlive || row.Silo.Equals(self))
                continue;

            var mine = row.Votes.FirstOrDefault(vote => vote.Voter.Equals(self));
            if (!probes.Suspects.TryGetValue(row.Silo, out var refused) || !MayTestify(row.Silo, witnesses, now))
            {
                if (mine.Voter is not null)
                    write.SetRow(row with { Votes = row.Votes.Remove(mine) }, changesView: false);

                continue;
            }

            Vote(write, row, mine, refused, now);
        }
    }

    private void Vote(TableChange write, MembershipRow row, Vote mine, bool refused, long now)
    {
        var votes = row.Votes.RemoveAll(vote => vote.Voter.Equals(self) || !known.View.MayHost(vote.Voter));
        votes = votes.Add(new Vote(self, mine.Voter is null ? known.View.Number : mine.View, refused));
        // A voter that this silo does not reach either may be the one that is cut off, so its word does not count.
        var counted = votes.RemoveAll(vote => probes.Suspects.ContainsKey(vote.Voter));
        if (counted.Length >= VotesNeeded(now))
        {
            var cause = counted.All(vote => vote.Refused) ? DeathCause.Refused : DeathCause.Silent;
            write.SetRow(row.AsDead(cause), changesView: true);
        }
        else if (mine.Voter is null || mine.Refused != refused)
        {
            write.SetRow(row with { Votes = votes }, changesView: false);
        }
    }

    // Silos whose heartbeat stands still cannot vote, so they do not count for the quorum. Otherwise two crashes at once in a cluster of
    // three, or the rows of a whole cluster that was replaced, could never be cleared.
    private int VotesNeeded(long now)
    {
        var fresh = 0;
        foreach (var silo in known.View.ActiveSilos)
            fresh += IsFresh(silo, now) ? 1 : 0;

        return Math.Max(1, Math.Min(options.VotesForDeath, (fresh + 1) / 2));
    }

    /// <summary>The other active silos that could vouch for this one: all whose heartbeat is fresh.</summary>
    private List<SiloAddress> Witnesses(long now)
    {
        var witnesses = new List<SiloAddress>();
        foreach (var silo in known.View.ActiveSilos)
        {
            if (!silo.Equals(self) && IsFresh(silo, now))
                witnesses.Add(silo);
        }

        return witnesses;
    }

    // Who hears nobody is more likely cut off than surrounded by the dead. Between two silos it cannot be decided.
    private bool MayTestify(SiloAddress suspect, List<SiloAddress> witnesses, long now)
    {
        var others = witnesses.Where(silo => !silo.Equals(suspect)).ToArray();
        return others.Length == 0 || others.Any(silo => probes.HasHeard(silo, now));
    }

    private bool IsFresh(SiloAddress silo, long now) =>
        silo.Equals(self) || known.StillFor(silo) < options.StaleTime;

    private void AbandonedRows(TableChange write, long now)
    {
        if (!options.EvictsJoining)
            return;

        foreach (var row in known.Table.Rows)
        {
            if (row.Status is SiloStatus.Created or SiloStatus.Joining && known.StillFor(row.Silo) > options.MaxJoinTime)
                write.SetRow(row.AsDead(DeathCause.Silent), changesView: true);
        }
    }

    // Only when every lease that the dead silo may have held has ended: a silo that joins later would not know of it.
    private void TrimDead(TableChange write, long now)
    {
        var dead = known.Table.Rows.Where(row => !row.IsAlive).OrderByDescending(row => row.ChangedAt).Skip(options.MaxDefunctRows);
        foreach (var row in dead)
        {
            if (known.StillFor(row.Silo) > 3L * options.LeaseDuration)
                write.Remove(row.Silo);
        }

        TrimExpired(write, now);
    }

    private void TrimExpired(TableChange write, long now)
    {
        _cleanupDue ??= After(now);
        if (now < _cleanupDue)
            return;

        _cleanupDue = After(now);
        foreach (var row in known.Table.Rows)
        {
            if (!row.IsAlive && known.StillFor(row.Silo) > Math.Max(options.DefunctExpiration, 3L * options.LeaseDuration))
                write.Remove(row.Silo);
        }
    }

    private long After(long now) => options.DefunctCleanupPeriod == long.MaxValue ? long.MaxValue : now + options.DefunctCleanupPeriod;
}
