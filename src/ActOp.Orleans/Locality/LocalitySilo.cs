using ActOp.Partitioning;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace ActOp.Orleans.Locality;

/// <summary>
/// A silo's part in locality partitioning: drives the exchange protocol in rounds and moves the grains of its plans. <see cref="EdgeFold"/>
/// turns the counted edges into the table that the protocol works on.
/// </summary>
/// <remarks>
/// Table, protocol and all that this holds belong to the turns (<see cref="LocalityTurns"/>). No turn waits for another silo or for a
/// grain: messages are one-way, and what questions and moves result in is posted. A lost message is repeated by the tick of the protocol.
/// </remarks>
internal sealed class LocalitySilo : ILifecycleParticipant<ISiloLifecycle>
{
    /// <summary>Grains of one plan that are on their way at the same time, at most.</summary>
    private const int MovesAtOnce = 8;

    /// <summary>Steps of the fold between two messages about edges to other silos: five in a period.</summary>
    private const int StepsPerMessage = EdgeFold.StepsPerPeriod / 5;

    /// <summary>The rate of remote messages must grow by this factor for a round to come early.</summary>
    private const double RateThatWakes = 1.1;

    private static readonly TimeSpan TickPeriod = TimeSpan.FromMilliseconds(250);

    private readonly IServiceProvider _services;
    private readonly IOptionsMonitor<LocalityOptions> _monitor;
    private readonly LocalityOptions _options;
    private readonly PartitioningOptions _partitioning;
    private readonly LocalGrains _grains;
    private readonly LocalityMetrics _metrics;
    private readonly TimeProvider _time;
    private readonly ILogger _log;
    private readonly long _began;
    private readonly SiloAddress _self;
    private readonly Random _random;
    private readonly SiloNumbers _numbers;
    private readonly HeavyEdgeTable<GrainId> _table;
    private readonly UnknownLocations _unknown;
    private readonly CalledGrains _called = new();
    private readonly DepartedGrains _departed = new();
    private readonly MovableTraits _traits;
    private readonly EdgeFold _fold;
    private readonly ExchangeProtocol<GrainId> _protocol;
    private readonly RoundPeriod _period;
    private readonly SiloLoads _loads;
    private readonly Moves _moves;
    private ILocalityPeers _peers = null!;
    private Participants _participants = null!;
    private ITimer? _roundTimer;
    private int _movesOfRound;
    // Another silo was busy with an exchange when this one offered: there may be something to gain.
    private bool _isContended;
    // The rate of remote messages when a round last found nothing to gain; infinite while rounds gain something.
    private double _restRate = double.PositiveInfinity;
    private bool _runs;

    public LocalitySilo(
        IServiceProvider services, IOptionsMonitor<LocalityOptions> monitor, LocalGrains grains, LocalityMetrics metrics,
        ILocalSiloDetails local, IGrainFactory factory, TimeProvider time, ILogger<LocalitySilo> log)
    {
        (_services, _monitor, _grains, _metrics, _time, _log) = (services, monitor, grains, metrics, time, log);
        // Before anything uses them: silos are put together before their settings are validated.
        _options = monitor.CurrentValue;
        _options.Validate();
        _partitioning = _options.ToPartitioning().Validate();
        _began = time.GetTimestamp();
        _self = local.SiloAddress;
        _random = new Random(_self.GetConsistentHashCode());
        Turns = new LocalityTurns(time, metrics, log);
        _numbers = new SiloNumbers(_self, silo => _participants.Contains(silo));
        _table = new HeavyEdgeTable<GrainId>(_partitioning.EdgeCapacity, _numbers.NumberOf(_self));
        _unknown = new UnknownLocations(_partitioning.EdgeCapacity);
        _traits = new MovableTraits(grains, _numbers, _options, () => Now, log);
        _fold = new EdgeFold(_table, grains, _unknown, _called, _numbers.NumberOf, metrics, time);
        var origin = ((ulong)(uint)_self.GetConsistentHashCode() << 32) | (uint)_self.Endpoint.Port;
        _protocol = new ExchangeProtocol<GrainId>(_table, _traits, _partitioning, origin, _self.Generation);
        _period = new RoundPeriod(_partitioning);
        _loads = new SiloLoads(_self, _options.MinRoundPeriod);
        _moves = new Moves(grains, factory, Turns, time);
    }

    internal LocalityTurns Turns { get; }

    /// <summary>The number of rounds, for tests and the health check.</summary>
    internal long Rounds { get; private set; }

    /// <summary>When the last round began, or locality did.</summary>
    internal TimeSpan LastRound { get; private set; }

    internal TimeSpan Now => _time.GetElapsedTime(_began);

    internal bool IsEnabled => _monitor.CurrentValue.Enabled;

    public void Participate(ISiloLifecycle lifecycle) =>
        lifecycle.Subscribe(nameof(LocalitySilo), ServiceLifecycleStage.Active, StartAsync, StopAsync);

    private Task StartAsync(CancellationToken cancellation)
    {
        // Not before: these need the running silo.
        _peers = _services.GetRequiredService<ILocalityPeers>();
        _participants = ActivatorUtilities.CreateInstance<Participants>(_services);
        _grains.Arrived = grain => Turns.Post(() => Arrive(grain));
        Turns.Start();
        Turns.Post(Begin);
        return Task.CompletedTask;
    }

    private async Task StopAsync(CancellationToken cancellation)
    {
        _grains.TellsArrivals = false;
        Turns.Post(() => Run(false));
        await Turns.StopAsync();
        _participants.Dispose();
    }

    private void Begin()
    {
        _participants.Refresh();
        _participants.Changed = () => Turns.Post(RefreshParticipants);
        Run(_monitor.CurrentValue.Enabled);
        LastRound = Now;
        Turns.Every(_options.FoldPeriod / EdgeFold.StepsPerPeriod, Fold);
        Turns.Every(TickPeriod, Tick);
        Turns.Every(_loads.Period, TellLoads);
        _roundTimer = Turns.Later(_options.MinRoundPeriod, PlayRound);
        _log.Began(_self, _participants.Count);
    }

    /// <summary>Begins or ends the counting and the rounds.</summary>
    private void Run(bool runs)
    {
        if (runs == _runs)
            return;
        _runs = runs;
        if (runs)
            _fold.Start(Now);
        else
            _fold.Stop();
    }

    private void Tick()
    {
        if (_monitor.CurrentValue.Enabled != _runs)
        {
            Run(!_runs);
            _log.Switched(_runs ? "on" : "off");
        }

        Handle(_protocol.Tick(Now, OwnLoad()));
    }

    private void Fold()
    {
        if (!_runs)
            return;
        var ends = _fold.Step(Now, _partitioning.DecayHalfLife);
        TellMoves();
        if (_grains.Step % StepsPerMessage == 0)
        {
            TellCalls();
            AskForLocations();
        }

        if (!ends)
            return;
        _metrics.Unmovable = _grains.All.Count(_traits.WouldLose);
        Wake();
    }

    /// <summary>Rounds that found nothing to gain have become rare. If more crosses silos since, the next one comes soon.</summary>
    private void Wake()
    {
        if (_metrics.RemoteRate <= (_restRate * RateThatWakes) + _options.MigrationCost)
            return;
        _restRate = double.PositiveInfinity;
        _period.Disturb();
        _roundTimer!.Change(_options.MinRoundPeriod * _random.NextDouble(), Timeout.InfiniteTimeSpan);
    }

    /// <summary>Silos have joined, left or died, or their manifests have come.</summary>
    private void RefreshParticipants()
    {
        _participants.Refresh();
        foreach (var (silo, number) in _numbers.Gone())
        {
            _period.Disturb();
            _loads.Forget(silo);
            _unknown.ForgetSilo(number);
            _called.ForgetSilo(number);
            Handle(_protocol.Gone(number, Now, OwnLoad()));
            _numbers.Free(number);
        }
    }

    private void TellLoads()
    {
        // Manifests come later than their silos.
        RefreshParticipants();
        _loads.Expire(Now);
        if (!_runs)
            return;
        var report = _loads.Report(_grains.Count);
        foreach (var silo in SiloLoads.Draw(_participants.All, _random))
            Send(silo, peer => peer.Loads(report));
    }

    /// <summary>One round. It does not wait for the other silos.</summary>
    private void PlayRound()
    {
        var wait = _options.MinRoundPeriod;
        try
        {
            if (!_runs)
                return;
            Rounds++;
            LastRound = Now;
            var load = OwnLoad();
            var empty = _loads.EmptiestBelow(load) is { } silo ? _numbers.NumberOf(silo) : SiloNumber.Unknown;
            var step = empty > 0 ? _protocol.BeginRound(Now, load, empty) : _protocol.BeginRound(Now, load);
            Handle(step);
            Describe(step, load);
            var gains = _movesOfRound > 0 || _isContended;
            _restRate = gains ? double.PositiveInfinity : _metrics.RemoteRate;
            wait = _period.Next(gains ? 1 : 0, _random.NextDouble());
            (_movesOfRound, _isContended) = (0, false);
        }
        finally
        {
            _roundTimer!.Change(wait, Timeout.InfiniteTimeSpan);
        }
    }

    private void Describe(ExchangeStep<GrainId> step, SiloLoad load)
    {
        var reason = step.Offer is { } offer ? $"offered {offer.Candidates.Count} grains to {_numbers.SiloOf(offer.To)}"
            : _participants.Count == 0 ? "no other silo takes part"
            : _protocol.State == ExchangeState.Offering ? "an offer is out" : "no silo is worth an offer";
        _log.Round(Rounds, reason, _metrics.RemoteShare, _metrics.TotalRate, _metrics.Edges, _metrics.Unplaced, _grains.Count, load.Lower,
            load.Upper);
    }

    private void Handle(ExchangeStep<GrainId> step, SiloAddress? partner = null)
    {
        _grains.TellsArrivals = _protocol.State != ExchangeState.Idle;
        if (step.Offer is { } offer)
            Send(offer);
        if (step.Reply is { } reply)
            Send(reply, partner!);
        if (step.Moves is not { } moves)
            return;
        _metrics.Exchanged();
        _movesOfRound += moves.Count;
        if (moves.Count > 0)
            Turns.Follow(MoveAsync(moves, _numbers.SiloOf(step.Target)), "moving grains");
    }

    private void Send(ExchangeOffer<GrainId> offer)
    {
        _metrics.Offered();
        var message = new OfferMessage
        {
            From = _self,
            Id = ExchangeName.NameOf(offer.Id),
            Load = offer.Load.Current,
            Lower = offer.Load.Lower,
            Upper = offer.Load.Upper,
            Candidates = _numbers.ToMessage(offer.Candidates),
            Answered = ExchangeName.NameOf(offer.Answered),
        };
        Send(_numbers.SiloOf(offer.To), peer => peer.Offer(message));
    }

    private void Send(ExchangeReply<GrainId> reply, SiloAddress to)
    {
        var message = new ReplyMessage
        {
            From = _self,
            Id = ExchangeName.NameOf(reply.Id),
            Refusal = (int)reply.Refusal,
            Accepted = reply.Plan?.Accepted,
            Given = reply.Plan is { } plan ? _numbers.ToMessage(plan.Given) : null,
            Gain = reply.Plan?.Gain ?? 0,
            LoadChange = reply.Plan?.LoadChange ?? 0,
            Withdrawn = ExchangeName.NameOf(reply.Withdrawn),
        };
        Send(to, peer => peer.Reply(message));
    }

    private void Send(SiloAddress silo, Func<ILocalityService, Task> message) => Turns.Follow(message(_peers.At(silo)), "a message");

    internal void Receive(OfferMessage offer)
    {
        // A silo that is not known here yet repeats its offer.
        if (!_runs || _numbers.NumberOf(offer.From) is var from && from <= 0 || !TryRead(offer.Candidates, out var candidates))
            return;
        Handle(_protocol.Receive(
            new ExchangeOffer<GrainId>(
                offer.Id.ToId(), from, _table.Self, new SiloLoad(offer.Load, offer.Lower, offer.Upper), candidates, offer.Answered.ToId()),
            Now, OwnLoad()), offer.From);
    }

    internal void Receive(ReplyMessage reply)
    {
        ExchangePlan<GrainId>? plan = null;
        if (reply.Accepted is { } accepted)
        {
            if (!TryRead(reply.Given ?? new CandidatesMessage(), out var given))
                return;
            plan = new ExchangePlan<GrainId>(accepted, given, reply.Gain, reply.LoadChange);
        }
        else
        {
            _isContended |= (ExchangeRefusal)reply.Refusal != ExchangeRefusal.NoGain;
            _metrics.Refused(((ExchangeRefusal)reply.Refusal).ToString());
        }

        Handle(_protocol.Receive(
            new ExchangeReply<GrainId>(reply.Id.ToId(), (ExchangeRefusal)reply.Refusal, plan, reply.Withdrawn.ToId()), Now, OwnLoad()),
            reply.From);
    }

    internal void Receive(ReportMessage report) =>
        _protocol.Receive(new MoveReport<GrainId>(report.Id.ToId(), report.Grain, report.Moved));

    internal void Receive(LoadsMessage loads) => _loads.Merge(loads, Now, _participants.Contains);

    private bool TryRead(CandidatesMessage message, out CandidateSet<GrainId> candidates)
    {
        try
        {
            candidates = _numbers.FromMessage(message);
            return true;
        }
        catch (ArgumentException exception)
        {
            _metrics.Lost("malformed");
            _log.Malformed(exception.Message);
            candidates = CandidateSet<GrainId>.Empty;
            return false;
        }
    }

    /// <summary>
    /// Moves the grains of a plan, a few at a time. A grain takes no request while it moves, and Orleans sends all that begin at the same
    /// time as one batch, which each grain of it waits for.
    /// </summary>
    private async Task MoveAsync(IReadOnlyList<GrainId> grains, SiloAddress target)
    {
        var rate = _metrics.RemoteRate;
        // Later, the partner no longer expects it.
        var end = Now + _partitioning.MigrationTimeout;
        var outcomes = new string?[grains.Count];
        var next = -1;
        await Task.WhenAll(Enumerable.Range(0, Math.Min(MovesAtOnce, grains.Count)).Select(_ => MoveNextAsync())).ConfigureAwait(false);
        var stayed = outcomes.OfType<string>().GroupBy(static one => one).Select(static group => $"{group.Key}: {group.Count()}");
        _log.Exchanged(target, outcomes.Count(static one => one is null), outcomes.Count(static one => one is not null),
            string.Join(", ", stayed), rate);

        async Task MoveNextAsync()
        {
            for (int index; (index = Interlocked.Increment(ref next)) < outcomes.Length;)
                outcomes[index] = await MoveAsync(grains[index], target, end).ConfigureAwait(false);
        }
    }

    private async Task<string?> MoveAsync(GrainId grain, SiloAddress target, TimeSpan end)
    {
        string? outcome;
        try
        {
            outcome = Now < end ? await _moves.MoveAsync(grain, target).ConfigureAwait(false) : "late";
        }
        catch (Exception exception)
        {
            // For instance a filter of the application that lets the request to move not pass.
            _log.StepFailed("a move", exception);
            outcome = "failed";
        }

        Turns.Post(() => Confirm(grain, target, outcome));
        return outcome;
    }

    private void Confirm(GrainId grain, SiloAddress target, string? outcome)
    {
        var left = outcome is null;
        var known = left ? _protocol.Departed(grain, out var report, out _) : _protocol.Skipped(grain, out report, out _);
        if (left)
        {
            _metrics.Moved();
            _traits.Left(grain.Type);
            _departed.Add(grain, target, _table.TryLocate(grain, out _, out var epoch) ? epoch : 0);
        }
        else
        {
            _metrics.Skipped(outcome!);
            if (outcome == nameof(MoveOutcome.Refused))
                _traits.Refused(grain.Type);
        }

        if (known && _participants.Contains(target))
            Send(target, peer => peer.Report(new ReportMessage(ExchangeName.NameOf(report.Id), grain, left)));
    }

    private void Arrive(GrainId grain)
    {
        if (!_protocol.Arrived(grain))
            return;
        _movesOfRound++;
        // The table knows since when it is here: later activations on other silos are newer.
        if (_grains.TryGet(grain, out var present) && _table.TryLocate(grain, out _, out var epoch) && epoch > present.Epoch)
            present.Epoch = epoch;
    }

    /// <summary>Asks other silos for the far ends of edges, in one message for each.</summary>
    private void AskForLocations()
    {
        int[] silos = [.. _participants.All.Select(_numbers.NumberOf).Where(static number => number > 0)];
        foreach (var (silo, grains) in _unknown.TakeQuestions(Now, silos))
            Turns.Follow(AskAsync(silo, _numbers.SiloOf(silo), [.. grains]), "a question for locations");
    }

    /// <summary>Tells the other silos which calls their grains got from grains of this one.</summary>
    private void TellCalls()
    {
        foreach (var (silo, calls) in _called.TakeUntold(_self))
            Send(_numbers.SiloOf(silo), peer => peer.Calls(calls));
    }

    /// <summary>Tells all silos where grains of this one went, so that they send no message here.</summary>
    private void TellMoves()
    {
        if (_departed.TakeUntold(_self) is not { } moved)
            return;
        foreach (var silo in _participants.All)
            Send(silo, peer => peer.Moved(moved));
    }

    internal void Receive(CallsMessage calls)
    {
        if (!_runs || _numbers.NumberOf(calls.From) is var from && from <= 0)
            return;
        var (callers, epochs, messages) = (calls.Callers, calls.Epochs, calls.Messages);
        for (var i = 0; i < calls.Called.Length && i < callers.Length && i < epochs.Length && i < messages.Length; i++)
        {
            if (_grains.TryGet(calls.Called[i], out var grain))
                _fold.AddReceived(grain, callers[i], from, epochs[i], messages[i]);
        }
    }

    internal void Receive(MovedMessage moved)
    {
        for (var i = 0; i < moved.Grains.Length && i < moved.Locations.Length && i < moved.Epochs.Length; i++)
        {
            var (grain, index) = (moved.Grains[i], moved.Locations[i]);
            if ((uint)index >= (uint)moved.Silos.Length || _grains.TryGet(grain, out _))
                continue;
            var silo = moved.Silos[index];
            if (silo.Equals(_self))
                continue;
            _grains.Locations?.Correct(grain, moved.From, silo);
            _table.Locate(grain, _numbers.NumberOf(silo), moved.Epochs[i]);
        }
    }

    private async Task AskAsync(int number, SiloAddress silo, GrainId[] grains)
    {
        var locations = await _peers.At(silo).Locate(grains).ConfigureAwait(false);
        Turns.Post(() => Learn(number, silo, grains, locations));
    }

    private void Learn(int asked, SiloAddress silo, GrainId[] grains, LocationsMessage locations)
    {
        if (_numbers.NumberOf(silo) != asked)
            return;
        var known = new HashSet<int>(locations.Indices);
        for (var i = 0; i < locations.Indices.Length && i < locations.Locations.Length && i < locations.Epochs.Length; i++)
        {
            var (index, location) = (locations.Indices[i], locations.Locations[i]);
            if ((uint)index < (uint)grains.Length && (uint)location < (uint)locations.Silos.Length && !_grains.TryGet(grains[index], out _))
                _table.Locate(grains[index], _numbers.NumberOf(locations.Silos[location]), locations.Epochs[i]);
        }

        for (var i = 0; i < grains.Length; i++)
        {
            // It was there, and has ended or moved by other means than a plan.
            if (!known.Contains(i) && _table.TryLocate(grains[i], out var believed, out var epoch) && believed == asked)
            {
                _table.Locate(grains[i], SiloNumber.Unknown, epoch);
                _unknown.AskAll(grains[i]);
            }
        }
    }

    /// <summary>The answer to another silo.</summary>
    internal LocationsMessage Locate(GrainId[] grains)
    {
        List<SiloAddress> silos = [_self];
        List<int> indices = [], locations = [];
        List<long> epochs = [];
        for (var i = 0; i < grains.Length; i++)
        {
            if (_grains.TryGet(grains[i], out var present))
                Add(i, 0, present.Epoch);
            else if (_departed.TryGet(grains[i], out var departed))
                Add(i, IndexOf(departed.Silo), departed.Epoch);
        }

        return new LocationsMessage { Indices = [.. indices], Locations = [.. locations], Epochs = [.. epochs], Silos = [.. silos] };

        void Add(int index, int location, long epoch)
        {
            indices.Add(index);
            locations.Add(location);
            epochs.Add(epoch);
        }

        int IndexOf(SiloAddress silo)
        {
            if (!silos.Contains(silo))
                silos.Add(silo);
            return silos.IndexOf(silo);
        }
    }

    private SiloLoad OwnLoad() => _loads.Around(_grains.Count, _partitioning.Tolerance);
}
