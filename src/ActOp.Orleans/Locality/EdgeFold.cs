using ActOp.Partitioning;

namespace ActOp.Orleans.Locality;

/// <summary>
/// Merges what the activations counted into the table of heavy edges, in steps (record 0007), and sets the share of calls that is counted.
/// Belongs to the turns of locality.
/// </summary>
internal sealed class EdgeFold(
    HeavyEdgeTable<GrainId> table, LocalGrains grains, UnknownLocations unknown, CalledGrains called, Func<SiloAddress, int> numberOf,
    LocalityMetrics metrics, TimeProvider time)
{
    internal const int StepsPerPeriod = 20;

    /// <summary>
    /// Up to this rate of messages of calls that grains send, every call is counted. Above it a share is, so that the cost stays constant.
    /// </summary>
    private const double FullCountRate = 50_000;

    private const int MaxStride = 64;

    private TimeSpan _lastStep;
    private TimeSpan _lastFold;
    private long _messages;
    private int _stride = 1;

    internal void Start(TimeSpan now)
    {
        _lastStep = _lastFold = now;
        _messages = 0;
        grains.TellsGone = true;
        grains.Gate.Open(_stride = 1);
    }

    /// <summary>Nothing is counted any more. What was counted is dropped.</summary>
    internal void Stop()
    {
        grains.Gate.Open(0);
        grains.TellsGone = false;
        called.Clear();
        while (grains.TryTakeGone(out _))
        {
        }
    }

    /// <summary>Merges the sketches that are a period old.</summary>
    /// <returns>Whether a period ended with this step.</returns>
    internal bool Step(TimeSpan now, TimeSpan halfLife)
    {
        var elapsed = now - _lastStep;
        if (elapsed <= TimeSpan.Zero)
            return false;
        _lastStep = now;
        var start = time.GetTimestamp();
        var step = ++grains.Step;
        table.BeginFold(elapsed, halfLife);
        while (grains.TryTakeFull(out var full, out var edges))
            Merge(full, edges);
        while (grains.TryTakeCounting(StepsPerPeriod, out var grain))
        {
            if (!grain.TryTakeEdges(out var edges))
                grains.Enlist(grain);
            else if (edges is not null)
                Merge(grain, edges);
        }

        while (grains.TryTakeGone(out var gone))
            table.Forget(gone);
        var ends = step % StepsPerPeriod == 0;
        if (ends)
            EndFold(now);
        metrics.Folded(time.GetElapsedTime(start).TotalMilliseconds);
        return ends;
    }

    private void EndFold(TimeSpan now)
    {
        var rate = _messages / (now - _lastFold).TotalSeconds;
        (_messages, _lastFold) = (0, now);
        grains.Gate.Open(_stride = (int)Math.Clamp(rate / FullCountRate, 1, MaxStride));
        var total = table.TotalWeight(out var remote);
        metrics.Weighed(total, remote, table.Count, table.Floor);
        metrics.Unplaced = unknown.Count;
    }

    /// <summary>The calls that a grain of this silo has received from one of another silo, which has counted them.</summary>
    internal void AddReceived(LocalGrain grain, GrainId caller, int silo, long epoch, long messages)
    {
        if (!grains.Kinds.KindOf(caller.Type).Counts)
            return;
        KeepHere(grain);
        // Since the call, the caller may have come.
        if (grains.TryGet(caller, out var present))
            (silo, epoch) = (table.Self, present.Epoch);
        table.Sample(grain.Context.GrainId, grain.Epoch, caller, silo, epoch, messages);
    }

    /// <summary>A wall clock of another silo that is ahead must not make the table take a grain of this silo for one of that.</summary>
    private void KeepHere(LocalGrain grain)
    {
        var id = grain.Context.GrainId;
        if (table.TryLocate(id, out var silo, out var epoch) && silo != table.Self && epoch >= grain.Epoch
            && grains.TryGet(id, out var present) && ReferenceEquals(present, grain))
        {
            grain.Epoch = epoch + 1;
        }
    }

    private void Merge(LocalGrain grain, EdgeSketch<GrainId> edges)
    {
        KeepHere(grain);
        var sink = new Sink(this, grain);
        edges.Drain(ref sink);
        grains.ReturnSketch(edges);
    }

    private void Sample(LocalGrain grain, GrainId other, long messages, long error)
    {
        _messages += messages;
        if (!grains.Kinds.KindOf(other.Type).Counts)
            return;
        var (silo, epoch) = LocationOf(other);
        // The table takes the counts of both ends, and calls are counted where they are sent.
        var ends = silo == table.Self ? 2 : 1;
        table.Sample(grain.Context.GrainId, grain.Epoch, other, silo, epoch, ends * messages, ends * error);
        if (silo != table.Self && silo != SiloNumber.Unknown)
            called.Add(silo, other, grain, messages - error);
    }

    private (int Silo, long Epoch) LocationOf(GrainId other)
    {
        if (grains.TryGet(other, out var present))
            return (table.Self, present.Epoch);
        if (!table.TryLocate(other, out var silo, out var epoch))
            (silo, epoch) = (SiloNumber.Unknown, 0);
        else if (silo == table.Self)
            table.Locate(other, silo = SiloNumber.Unknown, epoch);
        // The silo has sent it a message, so it mostly knows the location.
        if (silo == SiloNumber.Unknown && grains.Locations is { } known && known.TryFind(other, out var location))
            silo = numberOf(location) is var number && number != table.Self ? number : SiloNumber.Unknown;
        unknown.Ask(other, silo);
        return (silo, epoch);
    }

    private readonly struct Sink(EdgeFold fold, LocalGrain grain) : IEdgeSink<GrainId>
    {
        public void Receive(GrainId other, long messages, long error, long bytes) => fold.Sample(grain, other, messages, error);
    }
}

/// <summary>
/// The far ends of edges whose silo is unknown, or was last asked for a while ago. Each is asked for once in <see cref="RefreshTime"/>: the
/// silo where it should be, or all of them. Belongs to the turns of locality.
/// </summary>
/// <param name="capacity">The most ends that are kept.</param>
internal sealed class UnknownLocations(int capacity)
{
    /// <summary>Grains in one question: about 200 KB.</summary>
    internal const int MaxPerQuestion = 4096;

    /// <summary>A location that is known is asked for again after this long. It may have changed by other means than an exchange.</summary>
    internal static readonly TimeSpan RefreshTime = TimeSpan.FromSeconds(2);

    private readonly HashSet<GrainId> _asked = [];
    private readonly Dictionary<GrainId, int> _waiting = [];
    private TimeSpan _cleared;

    /// <summary>Ends of edges whose silo nobody has told in this <see cref="RefreshTime"/>.</summary>
    internal int Count { get; private set; }

    /// <summary>An edge leads to a grain that is on that silo, or on an unknown one.</summary>
    internal void Ask(GrainId grain, int silo)
    {
        if (_asked.Count + _waiting.Count < capacity && !_asked.Contains(grain))
            _waiting[grain] = silo;
    }

    /// <summary>The silo that was asked does not have it: all are asked in the next period.</summary>
    internal void AskAll(GrainId grain)
    {
        _asked.Remove(grain);
        Ask(grain, SiloNumber.Unknown);
    }

    /// <summary>A silo is gone: its number may name another one.</summary>
    internal void ForgetSilo(int silo)
    {
        foreach (var (grain, asked) in _waiting)
        {
            if (asked == silo)
                _waiting[grain] = SiloNumber.Unknown;
        }
    }

    /// <summary>The questions of this period: for each silo the grains to ask it for, at most <see cref="MaxPerQuestion"/>.</summary>
    internal Dictionary<int, List<GrainId>> TakeQuestions(TimeSpan now, IReadOnlyCollection<int> silos)
    {
        if (now - _cleared >= RefreshTime)
        {
            _cleared = now;
            _asked.Clear();
        }

        Dictionary<int, List<GrainId>> questions = [];
        Count = 0;
        foreach (var (grain, silo) in _waiting)
        {
            if (silo == SiloNumber.Unknown)
                Count++;
            var asked = silo == SiloNumber.Unknown ? silos : [silo];
            if (!asked.All(one => !questions.TryGetValue(one, out var list) || list.Count < MaxPerQuestion))
                continue;
            foreach (var one in asked)
                (questions.TryGetValue(one, out var list) ? list : questions[one] = []).Add(grain);
            _waiting.Remove(grain);
            _asked.Add(grain);
        }

        return questions;
    }
}

/// <summary>
/// The calls that grains of this silo have sent to those of other silos, until their silos are told. Limited: what does not fit is not
/// told, and the edge is lighter on that silo. Belongs to the turns of locality.
/// </summary>
internal sealed class CalledGrains
{
    /// <summary>Edges in one message, at most: about 400 KB.</summary>
    private const int MaxPerMessage = 4096;

    private readonly Dictionary<int, List<(GrainId Called, GrainId Caller, long Epoch, long Messages)>> _untold = [];

    internal void Add(int silo, GrainId called, LocalGrain caller, long messages)
    {
        if (!_untold.TryGetValue(silo, out var list))
            _untold[silo] = list = [];
        if (list.Count < MaxPerMessage)
            list.Add((called, caller.Context.GrainId, caller.Epoch, messages));
    }

    /// <summary>A silo is gone: its number may name another one.</summary>
    internal void ForgetSilo(int silo) => _untold.Remove(silo);

    internal void Clear() => _untold.Clear();

    /// <summary>What to tell each silo; it is forgotten.</summary>
    internal List<(int Silo, CallsMessage Calls)> TakeUntold(SiloAddress from)
    {
        List<(int, CallsMessage)> told = [];
        foreach (var (silo, list) in _untold)
        {
            told.Add((silo, new CallsMessage
            {
                From = from,
                Called = [.. list.Select(static one => one.Called)],
                Callers = [.. list.Select(static one => one.Caller)],
                Epochs = [.. list.Select(static one => one.Epoch)],
                Messages = [.. list.Select(static one => one.Messages)],
            }));
        }

        _untold.Clear();
        return told;
    }
}

/// <summary>
/// Where grains went that left this silo by a plan: all silos are told once, and whoever asks later. Limited; the oldest go. Belongs to the
/// turns of locality.
/// </summary>
internal sealed class DepartedGrains
{
    private const int Capacity = 16_384;

    /// <summary>Grains in one message, at most: about 200 KB.</summary>
    private const int MaxTold = 4096;

    private readonly List<GrainId> _untold = [];

    private readonly Dictionary<GrainId, (SiloAddress Silo, long Epoch)> _locations = [];
    private readonly Queue<GrainId> _order = new();

    internal void Add(GrainId grain, SiloAddress silo, long epoch)
    {
        if (!_locations.ContainsKey(grain))
            _order.Enqueue(grain);
        _locations[grain] = (silo, epoch);
        if (_untold.Count < MaxTold)
            _untold.Add(grain);
        if (_order.Count > Capacity)
            _locations.Remove(_order.Dequeue());
    }

    internal bool TryGet(GrainId grain, out (SiloAddress Silo, long Epoch) location) => _locations.TryGetValue(grain, out location);

    /// <summary>What to tell all silos that take part; null if nothing has left since the last time.</summary>
    internal MovedMessage? TakeUntold(SiloAddress from)
    {
        if (_untold.Count == 0)
            return null;
        var told = _untold.Where(_locations.ContainsKey).ToArray();
        _untold.Clear();
        SiloAddress[] silos = [.. told.Select(grain => _locations[grain].Silo).Distinct()];
        return new MovedMessage
        {
            From = from,
            Grains = told,
            Locations = Array.ConvertAll(told, grain => Array.IndexOf(silos, _locations[grain].Silo)),
            Epochs = Array.ConvertAll(told, grain => _locations[grain].Epoch),
            Silos = silos,
        };
    }
}
