using ActOp.Management.Snapshots;
using Orleans.Runtime;

namespace ActOp.Dashboard;

/// <summary>
/// Makes pages from the differences of snapshots. All viewers of one silo share them: the cluster is asked once a second at most.
/// </summary>
/// <remarks>
/// Any thread. Holds one snapshot of each silo and the last page. Nothing runs without a viewer. A read that fails fails the requests that
/// wait for it; the next one reads anew.
/// </remarks>
internal sealed class DashboardFeed(Func<CancellationToken, Task<ClusterSnapshot>> read, TimeProvider time)
{
    private static readonly TimeSpan Shortest = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private Dictionary<SiloAddress, SiloSnapshot> _before = [];
    private Task<ClusterPage>? _reading;
    private long _readAt;

    internal Task<ClusterPage> GetAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_reading is null || _reading.IsFaulted || (_reading.IsCompleted && time.GetElapsedTime(_readAt) >= Shortest))
            {
                _readAt = time.GetTimestamp();
                // Not with the token of one viewer: others wait, too.
                _reading = ReadAsync();
            }

            return _reading.WaitAsync(cancellationToken);
        }
    }

    private async Task<ClusterPage> ReadAsync()
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        var now = await read(CancellationToken.None).ConfigureAwait(false);
        Dictionary<SiloAddress, SiloSnapshot> before;
        lock (_gate)
        {
            before = _before;
            // A silo that does not answer once keeps its last snapshot; one that is no member any more does not.
            _before = now.Silos.ToDictionary(static one => one.Silo);
            foreach (var silo in now.Silent.Keys.Where(before.ContainsKey))
                _before[silo] = before[silo];
        }

        return Make(now, before, time.GetUtcNow());
    }

    /// <summary>The page of a snapshot and the one before it.</summary>
    internal static ClusterPage Make(
        ClusterSnapshot now, IReadOnlyDictionary<SiloAddress, SiloSnapshot> before, DateTimeOffset at)
    {
        var names = now.Members.GroupBy(static member => member.Silo).ToDictionary(static one => one.Key, static one => one.First().Name);
        var silos = now.Silos.Select(silo => Line(silo, before.GetValueOrDefault(silo.Silo), names.GetValueOrDefault(silo.Silo, "")))
            .Concat(now.Silent.Select(
                pair => new SiloLine(pair.Key.ToString(), names.GetValueOrDefault(pair.Key, "")) { Silent = pair.Value }))
            .OrderBy(static line => line.Name, StringComparer.Ordinal).ThenBy(static line => line.Silo, StringComparer.Ordinal);
        return new ClusterPage(at, now.View, [.. silos], Classes(now.Silos, before), Edges(now.Silos),
            [.. now.Members.Select(static member => new MemberLine(member.Silo.ToString(), member.Name, member.Status))]);
    }

    private static SiloLine Line(SiloSnapshot now, SiloSnapshot? before, string name)
    {
        var seconds = Seconds(now, before);
        var local = now.LocalMessages - (before?.LocalMessages ?? 0);
        var remote = now.RemoteMessages - (before?.RemoteMessages ?? 0);
        return new SiloLine(now.Silo.ToString(), name)
        {
            CpuPercent = now.Cpu,
            MemoryBytes = now.MemoryBytes,
            MemoryLimitBytes = now.MemoryLimitBytes,
            Activations = now.Activations,
            Clients = now.Clients,
            IsOverloaded = now.IsOverloaded,
            MessageRate = (local + remote) / seconds,
            RemoteShare = seconds is null || local + remote == 0 ? null : (double)remote / (local + remote),
            MoveRate = (now.Moves - (before?.Moves ?? 0)) / seconds,
            Stages = [.. now.Stages.Select(stage => Line(stage, before?.Stages.Find(one => one.Name == stage.Name), seconds))],
        };
    }

    private static StageLine Line(StageSnapshot now, StageSnapshot? before, double? seconds)
    {
        if (before is null || seconds is null)
            return new StageLine(now.Name, now.Threads, now.Changes, null, null, null, null, null);
        var events = now.Executed - before.Executed;
        var wall = now.Wall - before.Wall;
        var (cpu, ready) = (now.Cpu - before.Cpu, now.Ready - before.Ready);
        return new StageLine(now.Name, now.Threads, now.Changes, events / seconds, Mean(now.Wait - before.Wait, events), Mean(cpu, events),
            Mean(ready, events), wall > 0 ? Math.Clamp((wall - cpu - ready) / wall, 0, 1) : null);
    }

    private static double? Mean(double sum, long events) => events > 0 ? Math.Max(0, sum / events) : null;

    private static List<ClassLine> Classes(IReadOnlyList<SiloSnapshot> now, IReadOnlyDictionary<SiloAddress, SiloSnapshot> before)
    {
        var classes = new Dictionary<string, ClassSum>(StringComparer.Ordinal);
        foreach (var silo in now)
        {
            var last = before.GetValueOrDefault(silo.Silo);
            var seconds = Seconds(silo, last);
            var known = last?.Classes.ToDictionary(static one => one.GrainType, StringComparer.Ordinal);
            foreach (var one in silo.Classes)
            {
                if (!classes.TryGetValue(one.GrainType, out var sum))
                    classes[one.GrainType] = sum = new ClassSum();
                sum.Add(one, known?.GetValueOrDefault(one.GrainType), seconds);
            }
        }

        return [.. classes.Select(static pair => pair.Value.Line(pair.Key)).OrderByDescending(static line => line.CallRate ?? 0)
            .ThenByDescending(static line => line.Activations).ThenBy(static line => line.Name, StringComparer.Ordinal)];
    }

    /// <summary>An edge between two silos is in the tables of both.</summary>
    private static List<EdgeLine> Edges(IReadOnlyList<SiloSnapshot> silos) =>
    [
        .. silos.SelectMany(static silo => silo.Edges).GroupBy(static edge => (edge.One, edge.Other)).Select(static pair =>
        {
            var (local, remote) = (pair.Sum(static edge => edge.Local), pair.Sum(static edge => edge.Remote) / 2);
            return new EdgeLine(pair.Key.One, pair.Key.Other, local + remote, local + remote > 0 ? remote / (local + remote) : 0);
        }).Where(static edge => edge.Rate > 0).OrderByDescending(static edge => edge.Rate),
    ];

    private static double? Seconds(SiloSnapshot now, SiloSnapshot? before) =>
        before is not null && now.At > before.At ? now.At - before.At : null;

    /// <summary>One class while silos are added to it.</summary>
    private sealed class ClassSum
    {
        private readonly long[] _calls = new long[CallTimes.Bounds.Length + 1];
        private int _activations;
        private double _rate;
        private long _failed;
        private bool _hasRate;

        internal void Add(ClassSnapshot now, ClassSnapshot? before, double? seconds)
        {
            _activations += now.Activations;
            if (seconds is null)
                return;
            _hasRate = true;
            // The measuring has begun anew if there are fewer than before.
            var goesOn = before is not null && before.Calls.Sum() <= now.Calls.Sum();
            _failed += now.Failed - (goesOn ? before!.Failed : 0);
            for (var bound = 0; bound < now.Calls.Length; bound++)
            {
                var calls = Math.Max(0, now.Calls[bound] - (goesOn && bound < before!.Calls.Length ? before.Calls[bound] : 0));
                _calls[bound] += calls;
                _rate += calls / seconds.Value;
            }
        }

        internal ClassLine Line(string name)
        {
            var calls = _calls.Sum();
            return new ClassLine(name, _activations, _hasRate ? _rate : null, calls > 0 ? (double)_failed / calls : null,
                Quantile(calls, 0.5), Quantile(calls, 0.99));
        }

        /// <summary>The upper bound of the times among which the share is reached.</summary>
        private double? Quantile(long calls, double share)
        {
            if (calls == 0)
                return null;
            var rest = share * calls;
            for (var bound = 0; bound < CallTimes.Bounds.Length; bound++)
            {
                rest -= _calls[bound];
                if (rest <= 0)
                    return CallTimes.Bounds[bound];
            }

            return CallTimes.Bounds[^1];
        }
    }
}
