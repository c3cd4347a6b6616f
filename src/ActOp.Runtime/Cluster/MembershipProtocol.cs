using System.Net;
using ActOp.Mesh;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// One silo's part in membership, as a pure state machine: inputs are method calls with the current monotonic time in milliseconds, outputs
/// are collected in <see cref="Actions"/>, which the driver performs and clears. Not safe for concurrent use; runs on the control stage.
/// </summary>
/// <remarks>
/// The table is the only authority: a view is what the table says. Writes are level-triggered: after every change the protocol compares the
/// table with what it wants (<see cref="Reconcile"/>) and writes the difference with compare-and-swap, so lost and uncertain writes need no
/// special handling. This class owns the goal, the lease and the end. Its parts own the rest: <see cref="KnownTable"/> what was read,
/// <see cref="TableRequests"/> the request under way, <see cref="DesiredChanges"/> the difference to write, <see cref="SiloProbes"/> the
/// own probes, <see cref="ProbeRelays"/> those on behalf of others, <see cref="NewcomerProof"/> whether this silo may become active,
/// <see cref="Introductions"/> what others need for theirs.
/// </remarks>
internal sealed class MembershipProtocol
{
    /// <summary>Between two lines of the log about a start that waits.</summary>
    private const int ProofLogPeriod = 10_000;

    private readonly MembershipOptions _options;
    private readonly SiloAddress _self;
    private readonly MembershipOutput _output = new();
    private readonly HealthScore _health;
    private readonly KnownTable _known;
    private readonly TableRequests _requests;
    private readonly DesiredChanges _desired;
    private readonly HashSet<SiloAddress> _condemned = [];
    private readonly SiloProbes _probes;
    private readonly ProbeRelays _relays;
    private readonly NewcomerProof _proof;
    private readonly Introductions _introductions;
    private long _proofReadDue;
    private long _proofLogDue;
    private SiloStatus _goal = SiloStatus.None;
    private long _lastTick = long.MinValue / 2;
    private bool _listed;
    private bool _stopped;

    /// <summary>Creates the machine; nothing happens before <see cref="Join"/>.</summary>
    public MembershipProtocol(SiloAddress self, string name, IPEndPoint? gateway, MembershipOptions options)
    {
        _self = self;
        _options = options;
        _health = new HealthScore(options);
        _known = new KnownTable(self, options);
        _requests = new TableRequests(options, _output);
        // The cycle: a new suspect is voted against at once, and the vote is part of what Reconcile writes.
        _probes = new SiloProbes(self, options, _known, _health, _output, Reconcile);
        _relays = new ProbeRelays(self, options, _health, _output);
        _desired = new DesiredChanges(self, name, gateway, options, _known, _probes);
        _proof = new NewcomerProof(self, options, _known, _output);
        _introductions = new Introductions(self, _known, _output);
    }

    /// <summary>Its periods and limits.</summary>
    public MembershipOptions Options => _options;

    /// <summary>The actions to perform, in order. The driver performs them and clears the list.</summary>
    public List<MembershipAction> Actions => _output.Actions;

    /// <summary>The newest table that was read or received.</summary>
    public TableSnapshot Table => _known.Table;

    /// <summary>The newest view.</summary>
    public View View => _known.View;

    /// <summary>The silos this one probes.</summary>
    public IReadOnlyCollection<SiloAddress> Probed => _probes.Probed;

    /// <summary>How many probes in a row a silo has missed.</summary>
    public int MissedBy(SiloAddress silo) => _probes.MissedBy(silo);

    /// <summary>Whether own turns may run.</summary>
    public bool LeaseHeld { get; private set; }

    /// <summary>The time until which own turns may run unless the lease is confirmed again.</summary>
    public long LeaseDeadline => _options.LeaseDuration == 0 ? long.MaxValue : _known.ConfirmedAt + _options.LeaseForOwnTurns;

    /// <summary>The own health score, 0 to 8.</summary>
    public int Health => _health.Value;

    /// <summary>For how long the sign of life of a silo stood still when the table was last read.</summary>
    public long StillFor(SiloAddress silo) => _known.StillFor(silo);

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

    /// <summary>Starts the graceful stop: slots are handed over, grains run until they have moved or ended.</summary>
    public void BeginShutdown(long now) => Aim(SiloStatus.ShuttingDown, now);

    /// <summary>Ends the graceful stop: the own row becomes dead. Call it when all turns have ended.</summary>
    public void Leave(long now) => Aim(SiloStatus.Dead, now);

    /// <summary>
    /// Declares another silo dead without a vote, on an order from outside. Written with the next change of the table; forgotten if the
    /// table does not list the silo as alive.
    /// </summary>
    public void Condemn(SiloAddress silo, long now)
    {
        _condemned.Add(silo);
        Reconcile(now);
    }

    /// <summary>Advances the time. Call every <see cref="MembershipOptions.TickPeriod"/>.</summary>
    public void Tick(long now)
    {
        if (_stopped)
            return;

        AllowForLateTick(now);
        TickTable(now);
        TickProof(now);
        _probes.Tick(now);
        _relays.Tick(now);
        _health.Decay(now);
        Reconcile(now);
        UpdateLease(now);
    }

    /// <summary>Reads the table as soon as possible, because a message named a newer view.</summary>
    public void Refresh(long now)
    {
        _requests.WantRead(now);
        TickTable(now);
    }

    /// <summary>Another silo sent its copy of the table.</summary>
    public void OnGossip(TableSnapshot table, long now)
    {
        if (!_stopped && _goal != SiloStatus.None)
        {
            Adopt(table, null, now);
            Reconcile(now);
        }
    }

    /// <summary>
    /// The driver detected a sign of a fault on this silo, such as a long garbage collection or a starved stage. 1 point is a minor sign, 3
    /// a severe one.
    /// </summary>
    public void OnHealthSignal(int points, long now) => _health.Worsen(points, now);

    /// <summary>Another silo probes this one.</summary>
    public void OnProbe(Probe probe, long now)
    {
        if (_stopped)
            return;

        _probes.OnProbe(probe.From, now);
        _output.Add(new MembershipAction.SendProbeReply(probe.From,
            new ProbeReply(probe.Id, _self, Table.Version, now - _known.ConfirmedAt)));
        if (View.IsDead(probe.From))
            _output.Add(new MembershipAction.SendGossip(probe.From, Table));

        if (probe.Version > Table.Version)
            Refresh(now);
    }

    /// <summary>Bytes of another silo have arrived since the last tick. Call before <see cref="Tick"/>.</summary>
    public void OnBytes(SiloAddress from, long now)
    {
        if (!_stopped)
            _probes.OnBytes(from, now);
    }

    /// <summary>A probed silo answered, to this silo or to the silo that asked it to probe.</summary>
    public void OnProbeReply(ProbeReply answer, long now)
    {
        if (_stopped || _relays.OnReply(answer.Id))
            return;

        _probes.OnReply(answer, now);
        if (answer.Version > Table.Version)
            Refresh(now);

        UpdateLease(now);
    }

    /// <summary>A silo that joins wants to be reached.</summary>
    public void OnIntroduction(Introduction introduction, long now)
    {
        if (_stopped)
            return;

        _introductions.OnIntroduction(introduction, now);
        if (introduction.Version > Table.Version)
            Refresh(now);
    }

    /// <summary>The dial of a silo that joins has ended; null if it was reached.</summary>
    public void OnDialledBack(SiloAddress silo, DialFailure? failure)
    {
        if (!_stopped)
            _introductions.OnDialledBack(silo, failure);
    }

    /// <summary>Another silo has dialled this one, which joins.</summary>
    public void OnIntroductionReply(IntroductionReply reply, long now)
    {
        if (IsJoining)
        {
            _proof.OnReply(reply);
            Reconcile(now);
        }
    }

    /// <summary>A dial of another silo failed, for whatever message.</summary>
    public void OnNotReached(SiloAddress silo, DialFailure failure)
    {
        if (IsJoining)
            _proof.OnNotReached(silo, failure);
    }

    /// <summary>
    /// The host of <paramref name="silo"/> refused the connection: no process listens there. For any message, not only probes.
    /// </summary>
    public void OnRefused(SiloAddress silo, long now)
    {
        if (!_options.WatchesLinks)
            return;

        _relays.OnRefused(silo);
        if (!_stopped && _probes.OnRefused(silo, now))
            Reconcile(now);
    }

    /// <summary>
    /// A link to a silo broke. It is probed now instead of when its next probe is due, so that a killed process is noticed within
    /// milliseconds.
    /// </summary>
    public void OnLinkLost(SiloAddress silo, long now)
    {
        if (!_stopped && _options.WatchesLinks)
            _probes.OnLinkLost(silo, now);
    }

    /// <summary>
    /// Another silo cannot reach a third one and asks this one to try. If 256 such requests are under way, further ones are ignored.
    /// </summary>
    public void OnIndirectProbe(IndirectProbe request, long now)
    {
        if (!_stopped && _relays.TryRelay(request, Table.Version, now))
            _probes.NoteTraffic(request.From, now);
    }

    /// <summary>Another silo reports the result of its probe on behalf of this one.</summary>
    public void OnIndirectProbeReply(IndirectProbeReply answer, long now)
    {
        if (!_stopped)
            _probes.OnIndirectProbeReply(answer, now);
    }

    /// <summary>The table answered.</summary>
    public void OnTableReply(TableReply reply, long now)
    {
        var ended = _requests.End(reply.Id);
        if (_stopped)
            return;

        // Gossip is sent even if the new table contains the own leave, after which this protocol stops.
        if (ended is { Request.Operation: TableOperation.Write } && reply.Accepted)
            Gossip(reply.Snapshot);

        Adopt(reply.Snapshot, ended?.SentAt, now);
        if (!_stopped)
            Reconcile(now);
    }

    /// <summary>The table could not be reached, or did not answer in time.</summary>
    public void OnTableFailed(long requestId, long now) => _requests.Fail(requestId, now);

    private void Aim(SiloStatus goal, long now)
    {
        if (goal > _goal && !_stopped)
        {
            _goal = goal;
            Reconcile(now);
        }
    }

    // Replies may be queued behind a late tick. The delay is a sign of a fault on this silo, not on others.
    private void AllowForLateTick(long now)
    {
        var late = now - _lastTick - (2 * _options.TickPeriod);
        if (_lastTick > 0 && late > 0)
        {
            if (late > _options.ProbePeriod / 2)
                _health.Worsen(1, now);

            _probes.Extend(late);
        }

        _lastTick = now;
    }

    private void TickTable(long now)
    {
        _requests.Tick(now);
        if (_goal != SiloStatus.None && !_stopped && _requests.TryBeginRead(now))
        {
            var operation = _listed ? TableOperation.Heartbeat : TableOperation.Read;
            _requests.Send(new TableRequest(_output.NextId(), operation) { Silo = _self }, now);
        }
    }

    private bool IsJoining => !_stopped && _known.Own is { Status: SiloStatus.Created or SiloStatus.Joining };

    /// <summary>Introduces this silo while it joins. Reads the table often then: signs of life decide whom it must wait for.</summary>
    private void TickProof(long now)
    {
        if (!IsJoining || _goal > SiloStatus.Active)
            return;

        _proof.Tick(now);
        if (_goal != SiloStatus.Active || _proof.IsComplete(now))
            return;

        if (_proof.GivesUp(now) is { } reason)
        {
            _output.Add(new MembershipAction.NotAccepted(reason));
            Leave(now);
            return;
        }

        if (now >= _proofReadDue)
        {
            _proofReadDue = now + _options.IntroductionPeriod;
            _requests.WantRead(now);
        }

        if (now >= _proofLogDue)
        {
            if (_proofLogDue != 0)
                _output.Add(new MembershipAction.NotConfirmed(_proof.Describe(now)));

            _proofLogDue = now + ProofLogPeriod;
        }
    }

    /// <summary>Writes what the table lacks, if anything.</summary>
    private void Reconcile(long now)
    {
        if (_stopped || !_requests.MaySend(now) || !_known.HasBeenRead)
            return;

        if (_known.Own is null && (_goal == SiloStatus.Dead || _known.NewerGeneration is not null))
        {
            CheckOwnRow();
            return;
        }

        var write = _desired.Collect(_goal == SiloStatus.Active && IsJoining && !_proof.IsComplete(now) ? SiloStatus.Joining : _goal, now);
        _condemned.RemoveWhere(silo => silo.Equals(_self) || Table.FindRow(silo) is not { IsAlive: true });
        foreach (var silo in _condemned)
            write.SetRow(Table.FindRow(silo)!.AsDead(DeathCause.Silent), changesView: true);
        if (!write.IsEmpty)
            _requests.Send(write.Against(Table, _output.NextId()), now);
    }

    private void Gossip(TableSnapshot table)
    {
        if (!_options.Gossips)
            return;

        foreach (var row in table.Rows)
        {
            // The evicted silo is informed too, so that it stops as early as possible.
            if (!row.Silo.Equals(_self) && (row.IsAlive || row.ChangedAt == table.Version))
                _output.Add(new MembershipAction.SendGossip(row.Silo, table));
        }
    }

    /// <summary>Takes a newer table. <paramref name="confirmedAt"/> is when the table surely was at this version or an older one.</summary>
    private void Adopt(TableSnapshot table, long? confirmedAt, long now)
    {
        if (Table.TableId != 0 && table.TableId != Table.TableId)
        {
            OnOtherTable(table, confirmedAt is not null);
            return;
        }

        if (table.Version < Table.Version)
            return;

        if (_known.TakeTable(table, confirmedAt, now))
        {
            CheckOwnRow();
            Refute();
            _introductions.OnTable(now);
            TickProof(now);
        }

        if (!_stopped && _known.TryAdvanceView())
        {
            _probes.Choose(now);
            if (!IsJoining)
                _proof.Clear();

            _output.Add(new MembershipAction.Publish(View));
        }

        UpdateLease(now);
    }

    private void Refute()
    {
        if (!_stopped && _known.Own is { Votes: { Length: > 0 } votes })
            _probes.Refute(votes.Select(vote => vote.Voter));
    }

    /// <summary>
    /// The table that lists this silo was lost and replaced, so other silos may run the grains of this one. Gossip does not prove this; a
    /// reply of the table does.
    /// </summary>
    private void OnOtherTable(TableSnapshot table, bool isAnswer)
    {
        if (isAnswer && _goal == SiloStatus.Dead)
        {
            Stop(new MembershipAction.Left());
        }
        else if (isAnswer)
        {
            Stop(new MembershipAction.StopDead(
                $"The membership table that lists silo {_self} was lost and replaced by another ({table.TableId})."));
        }
    }

    private void CheckOwnRow()
    {
        var row = _known.Own;
        if (_goal == SiloStatus.Dead && (row is null || !row.IsAlive))
            Stop(new MembershipAction.Left());
        else if (row is { IsAlive: false })
            Stop(new MembershipAction.StopDead($"Silo {_self} was declared dead by the other silos ({row.Cause})."));
        else if (_known.NewerGeneration is { } newer)
            Stop(new MembershipAction.StopDead($"Silo {_self} was replaced by {newer} at the same endpoint."));
        else if (row is null && _listed)
            Stop(new MembershipAction.StopDead($"Silo {_self} is no longer in the membership table.", HasNoRow: true));

        _listed |= row is not null;
    }

    private void Stop(MembershipAction last)
    {
        Invariant.Holds(!_stopped);
        _stopped = true;
        _probes.Clear();
        _relays.Clear();
        _proof.Clear();
        _introductions.Clear();
        UpdateLease(0);
        _output.Add(last);
    }

    private void UpdateLease(long now)
    {
        var mayRun = !_stopped && _known.Own is { Status: SiloStatus.Active or SiloStatus.ShuttingDown or SiloStatus.Stopping };
        var held = mayRun && now < LeaseDeadline;
        if (held != LeaseHeld)
        {
            LeaseHeld = held;
            _output.Add(new MembershipAction.LeaseChanged(held));
        }
    }
}
