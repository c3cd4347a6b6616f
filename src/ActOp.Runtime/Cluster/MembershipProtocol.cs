using System.Net;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// One silo's part in membership, as a pure state machine: inputs are method calls with the current monotonic time in milliseconds, outputs
/// are collected in <see cref="Actions"/> for the driver to do and clear. Not safe for concurrent use; runs on the control stage.
/// </summary>
/// <remarks>
/// The table is the only authority: a view is what the table says. Writes are level-triggered: after every change the protocol compares the
/// table with what it wants (<see cref="Reconcile"/>) and writes the difference with compare-and-swap, so lost and uncertain writes need no
/// care.
/// </remarks>
internal sealed partial class MembershipProtocol
{
    private readonly MembershipOptions _options;
    private readonly SiloAddress _self;
    private readonly string _name;
    private readonly IPEndPoint? _gateway;
    private readonly HealthScore _health;
    private readonly Dictionary<SiloAddress, (long Count, long Since)> _beats = [];
    private readonly Dictionary<SiloAddress, bool> _suspects = [];
    private TableSnapshot _table = TableSnapshot.Empty;
    private SiloStatus _goal = SiloStatus.None;
    private long _confirmedAt = long.MinValue / 2;
    private long _lastTick = long.MinValue / 2;
    private long _nextId;
    private bool _listed;
    private bool _stopped;

    /// <summary>Creates the machine; nothing happens before <see cref="Join"/>.</summary>
    public MembershipProtocol(SiloAddress self, string name, IPEndPoint? gateway, MembershipOptions options)
    {
        _self = self;
        _name = name;
        _gateway = gateway;
        _options = options;
        _health = new HealthScore(2 * options.ProbePeriod);
    }

    /// <summary>What is to be done, in order. The driver does it and clears the list.</summary>
    public List<MembershipAction> Actions { get; } = [];

    /// <summary>The newest table that was read or heard of.</summary>
    public TableSnapshot Table => _table;

    /// <summary>The newest view.</summary>
    public View View { get; private set; } = View.Empty;

    /// <summary>Whether own turns may run.</summary>
    public bool LeaseHeld { get; private set; }

    /// <summary>The time until which own turns may run unless the lease is confirmed again.</summary>
    public long LeaseDeadline => _options.LeaseDuration == 0 ? long.MaxValue : _confirmedAt + _options.LeaseForOwnTurns;

    /// <summary>The own health score, 0 to 8.</summary>
    public int Health => _health.Value;

    /// <summary>Whether this silo has learned that it is dead, or has left.</summary>
    public bool IsStopped => _stopped;

    /// <summary>Enters the table as joining, in place of older generations at the same endpoint.</summary>
    public void Join(long now)
    {
        Aim(SiloStatus.Joining, now);
        Refresh(now);
    }

    /// <summary>Becomes active: an owner of directory slots and a target of placement.</summary>
    public void Activate(long now) => Aim(SiloStatus.Active, now);

    /// <summary>Starts the graceful stop: slots move away, grains may go on until they have moved or ended.</summary>
    public void BeginShutdown(long now) => Aim(SiloStatus.ShuttingDown, now);

    /// <summary>Ends the graceful stop: dead by own word. Call it when all turns have ended.</summary>
    public void Leave(long now) => Aim(SiloStatus.Dead, now);

    /// <summary>Lets time pass. Call every <see cref="MembershipOptions.TickPeriod"/>.</summary>
    public void Tick(long now)
    {
        if (_stopped)
        {
            return;
        }

        ForgiveOwnStall(now);
        TickTable(now);
        TickProbes(now);
        TickRelays(now);
        _health.Decay(now);
        Reconcile(now);
        UpdateLease(now);
    }

    /// <summary>Another silo showed its copy of the table.</summary>
    public void OnGossip(TableSnapshot table, long now)
    {
        if (!_stopped && _goal != SiloStatus.None)
        {
            Adopt(table, null, now);
            Reconcile(now);
        }
    }

    /// <summary>The driver noticed own trouble (a long collection, a starved stage): 1 point is a small sign, 3 a grave one.</summary>
    public void OnHealthSignal(int points, long now) => _health.Worsen(points, now);

    private void Aim(SiloStatus goal, long now)
    {
        if (goal > _goal && !_stopped)
        {
            _goal = goal;
            Reconcile(now);
        }
    }

    // Answers may be waiting behind a late tick: its length is no reason to call anyone dead, only to mistrust ourselves.
    private void ForgiveOwnStall(long now)
    {
        var late = now - _lastTick - (2 * _options.TickPeriod);
        if (_lastTick > 0 && late > 0)
        {
            if (late > _options.ProbePeriod / 2)
            {
                _health.Worsen(1, now);
            }

            foreach (var target in _probed.Values)
            {
                target.SentAt += late;
                target.IndirectSentAt += late;
            }
        }

        _lastTick = now;
    }

    /// <summary>Takes a newer table. <paramref name="confirmedAt"/> is when the table surely was at this version or an older one.</summary>
    private void Adopt(TableSnapshot table, long? confirmedAt, long now)
    {
        if (_table.TableId != 0 && table.TableId != _table.TableId)
        {
            OnOtherTable(table, confirmedAt is not null);
            return;
        }

        if (table.Version < _table.Version)
        {
            return;
        }

        NoteHeartbeats(table, now);
        // Sound for gossip too: whoever is alive in a newer version was alive at any earlier confirmation, as the dead never come back.
        _confirmedAt = Math.Max(_confirmedAt, confirmedAt ?? _confirmedAt);
        var newer = table.Version > _table.Version;
        _table = table;
        if (newer)
        {
            CheckOwnRow();
        }

        if (table.View > View.Number && !_stopped)
        {
            View = View.From(table);
            ChooseProbed(now);
            Actions.Add(new MembershipAction.Publish(View));
        }

        UpdateLease(now);
    }

    /// <summary>
    /// The table that this silo is listed in is lost and another has taken its place, in which others may run this silo's grains. Hearsay
    /// is no proof of that; the holder's answer is.
    /// </summary>
    private void OnOtherTable(TableSnapshot table, bool isAnswer)
    {
        if (isAnswer && _goal == SiloStatus.Dead)
        {
            Stop(new MembershipAction.Left());
        }
        else if (isAnswer)
        {
            Stop(new MembershipAction.StopDead($"The membership table that silo {_self} is in was lost; another ({table.TableId}) has taken its place."));
        }
    }

    private void CheckOwnRow()
    {
        var row = _table.Find(_self);
        if (_goal == SiloStatus.Dead && (row is null || !row.IsAlive))
        {
            Stop(new MembershipAction.Left());
        }
        else if (row is { IsAlive: false })
        {
            Stop(new MembershipAction.StopDead($"Silo {_self} was declared dead by the others ({row.Cause})."));
        }
        else if (NewerGeneration() is { } newer)
        {
            Stop(new MembershipAction.StopDead($"Silo {_self} was replaced by {newer} at the same endpoint."));
        }
        else if (row is null && _listed)
        {
            Stop(new MembershipAction.StopDead($"Silo {_self} is no longer in the membership table."));
        }

        _listed |= row is not null;
    }

    private SiloAddress? NewerGeneration()
    {
        foreach (var row in _table.Rows)
        {
            if (SiloOrder.SameEndpoint(row.Silo, _self) && row.Silo.Generation > _self.Generation)
            {
                return row.Silo;
            }
        }

        return null;
    }

    private void Stop(MembershipAction last)
    {
        _stopped = true;
        _probed.Clear();
        _relays.Clear();
        _suspects.Clear();
        UpdateLease(0);
        Actions.Add(last);
    }

    private void UpdateLease(long now)
    {
        var mayRun = !_stopped && _table.Find(_self) is { Status: SiloStatus.Active or SiloStatus.ShuttingDown or SiloStatus.Stopping };
        var held = mayRun && now < LeaseDeadline;
        if (held != LeaseHeld)
        {
            LeaseHeld = held;
            Actions.Add(new MembershipAction.LeaseChanged(held));
        }
    }

    private void NoteHeartbeats(TableSnapshot table, long now)
    {
        foreach (var row in table.Rows)
        {
            if (!_beats.TryGetValue(row.Silo, out var seen) || row.Heartbeat > seen.Count)
            {
                _beats[row.Silo] = (row.Heartbeat, now);
            }
        }

        if (_beats.Count > 2 * (table.Rows.Length + 1))
        {
            foreach (var silo in _beats.Keys.Where(silo => table.Find(silo) is null).ToArray())
            {
                _beats.Remove(silo);
            }
        }
    }

    private long StillFor(SiloAddress silo, long now) => _beats.TryGetValue(silo, out var seen) ? now - seen.Since : 0;
}
