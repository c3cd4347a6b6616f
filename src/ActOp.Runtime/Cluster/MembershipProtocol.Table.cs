using System.Collections.Immutable;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>The part that reads and writes the table.</summary>
internal sealed partial class MembershipProtocol
{
    private TableRequest? _pending;
    private long _pendingSince;
    private long _refreshDue;
    private long _retryAt;

    /// <summary>Reads the table as soon as possible: some message named a newer view.</summary>
    public void Refresh(long now)
    {
        _refreshDue = Math.Min(_refreshDue, now);
        TickTable(now);
    }

    /// <summary>The table answered.</summary>
    public void OnTableReply(TableReply reply, long now)
    {
        var expected = _pending is { } pending && pending.Id == reply.Id;
        var wrote = expected && reply.Accepted && _pending!.Operation == TableOperation.Write;
        long? confirmedAt = expected ? _pendingSince : null;
        if (expected)
        {
            _pending = null;
        }

        if (_stopped)
        {
            return;
        }

        // Gossip goes out even when the news is our own leave, after which this machine stops.
        if (wrote)
        {
            Gossip(reply.Snapshot);
        }

        Adopt(reply.Snapshot, confirmedAt, now);
        if (!_stopped)
        {
            Reconcile(now);
        }
    }

    /// <summary>The table could not be reached, or did not answer in time.</summary>
    public void OnTableFailed(long requestId, long now)
    {
        if (_pending?.Id == requestId)
        {
            _pending = null;
            _retryAt = now + _options.ProbePeriod;
            // What was asked for is still to be known, and not only when the next read is due.
            _refreshDue = Math.Min(_refreshDue, _retryAt);
        }
    }

    private void Gossip(TableSnapshot table)
    {
        foreach (var row in table.Rows)
        {
            // The evicted silo is told as well: the sooner it knows, the sooner it stops.
            if (!row.Silo.Equals(_self) && (row.IsAlive || row.ChangedAt == table.Version))
            {
                Actions.Add(new MembershipAction.SendGossip(row.Silo, table));
            }
        }
    }

    private void TickTable(long now)
    {
        if (_pending is { } late && now - _pendingSince > _options.TableTimeout)
        {
            OnTableFailed(late.Id, now);
        }

        if (_goal != SiloStatus.None && !_stopped && _pending is null && now >= _refreshDue && now >= _retryAt)
        {
            _refreshDue = now + _options.TableRefreshPeriod;
            Send(new TableRequest(++_nextId, _listed ? TableOperation.Heartbeat : TableOperation.Read) { Silo = _self }, now);
        }
    }

    private void Send(TableRequest request, long now)
    {
        _pending = request;
        _pendingSince = now;
        Actions.Add(new MembershipAction.UseTable(request));
    }

    private bool HasReadTable => _confirmedAt > long.MinValue / 2;

    /// <summary>Writes what the table lacks, if anything.</summary>
    private void Reconcile(long now)
    {
        if (_stopped || _pending is not null || now < _retryAt || !HasReadTable)
        {
            return;
        }

        var write = new TableChange();
        OwnRow(write);
        if (_table.Find(_self) is { Status: SiloStatus.Active })
        {
            Votes(write, now);
            AbandonedRows(write, now);
            TrimDead(write, now);
        }

        if (!write.IsEmpty)
        {
            Send(write.Against(_table, ++_nextId), now);
        }
    }

    private void OwnRow(TableChange write)
    {
        var row = _table.Find(_self);
        if (row is null)
        {
            if (_goal == SiloStatus.Dead || NewerGeneration() is not null)
            {
                CheckOwnRow();
                return;
            }

            foreach (var older in _table.Rows.Where(other => SiloOrder.SameEndpoint(other.Silo, _self)))
            {
                write.Remove(older.Silo);
            }

            // Joining first, even if active is wanted already: no silo is active before the others could see it come.
            write.Put(new MembershipRow(_self, _name, SiloStatus.Joining, _gateway), changesView: true);
        }
        else if (row.Status < _goal)
        {
            write.Put(_goal == SiloStatus.Dead ? row.AsDead(DeathCause.Graceful) : row with { Status = _goal }, changesView: true);
        }
    }

    private void Votes(TableChange write, long now)
    {
        foreach (var row in _table.Rows)
        {
            if (!row.IsAlive || row.Silo.Equals(_self))
            {
                continue;
            }

            var mine = row.Votes.FirstOrDefault(vote => vote.Voter.Equals(_self));
            if (!_suspects.TryGetValue(row.Silo, out var refused))
            {
                if (mine.Voter is not null)
                {
                    write.Put(row with { Votes = row.Votes.Remove(mine) }, changesView: false);
                }

                continue;
            }

            Vote(write, row, mine, refused, now);
        }
    }

    private void Vote(TableChange write, MembershipRow row, Vote mine, bool refused, long now)
    {
        var votes = row.Votes.RemoveAll(vote => vote.Voter.Equals(_self) || !View.MayHost(vote.Voter));
        votes = votes.Add(new Vote(_self, mine.Voter is null ? View.Number : mine.View, refused));
        if (votes.Length >= VotesNeeded(now))
        {
            var cause = votes.All(vote => vote.Refused) ? DeathCause.Refused : DeathCause.Silent;
            write.Put(row.AsDead(cause), changesView: true);
        }
        else if (mine.Voter is null || mine.Refused != refused)
        {
            write.Put(row with { Votes = votes }, changesView: false);
        }
    }

    // Silos whose heartbeat stands still cannot vote, so they must not raise the quorum: else two crashes at once in a
    // cluster of three, or the ghosts of a whole cluster that restarts elsewhere, could never be cleared.
    private int VotesNeeded(long now)
    {
        var fresh = 0;
        foreach (var silo in View.ActiveSilos)
        {
            fresh += IsFresh(silo, now) ? 1 : 0;
        }

        return Math.Max(1, Math.Min(_options.VotesForDeath, (fresh + 1) / 2));
    }

    private bool IsFresh(SiloAddress silo, long now) =>
        silo.Equals(_self) || StillFor(silo, now) < (long)_options.StaleHeartbeats * _options.TableRefreshPeriod;

    private void AbandonedRows(TableChange write, long now)
    {
        foreach (var row in _table.Rows)
        {
            if (row.Status is SiloStatus.Created or SiloStatus.Joining && StillFor(row.Silo, now) > _options.MaxJoinTime)
            {
                write.Put(row.AsDead(DeathCause.Silent), changesView: true);
            }
        }
    }

    // Not before every lease that the death may have left behind has ended: who joins later could not know of it.
    private void TrimDead(TableChange write, long now)
    {
        var dead = _table.Rows.Where(row => !row.IsAlive).OrderByDescending(row => row.ChangedAt).Skip(_options.MaxDefunctRows);
        foreach (var row in dead)
        {
            if (StillFor(row.Silo, now) > 3L * _options.LeaseDuration)
            {
                write.Remove(row.Silo);
            }
        }
    }
}
