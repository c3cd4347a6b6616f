using Orleans.Runtime;

namespace ActOp.Foundation;

/// <summary>
/// The identity of this node and what all its parts share: time, log, randomness, limits, and whether the node is stopping.
/// </summary>
/// <remarks>
/// A part takes this and the parts that it uses, never the node, which composes the parts. Owns nothing.
/// Immutable, except for the two flags that the node sets when it stops or has been declared dead. Any thread.
/// </remarks>
internal sealed class LocalNode
{
    private volatile bool _isStopping;
    private volatile bool _isDead;

    internal required SiloAddress Address { get; init; }

    /// <summary>False for a client, which hosts no grains but has observers.</summary>
    internal bool IsSilo => !Address.IsClient;

    /// <summary>The application's services.</summary>
    internal required IServiceProvider Services { get; init; }

    /// <summary>The runtime's own time, for timers that only post, and for measuring. It cannot be awaited.</summary>
    internal required NodeTime Time { get; init; }

    /// <summary>
    /// For delays, task timeouts and tokens: their continuations may be code of the application, which must not run on the shared timer
    /// thread.
    /// </summary>
    internal required TaskTime TaskTime { get; init; }

    /// <summary>For timers of grains; <see cref="Time"/> unless grains have a clock of their own.</summary>
    internal required NodeTime GrainTime { get; init; }

    internal required Clock Clock { get; init; }

    /// <summary>Which calls ask whether a trace begins with them.</summary>
    internal RootTraces Roots { get; init; } = new(1);

    /// <summary>What has happened here that is not worth a counter of its own.</summary>
    internal NodeCounts Counts { get; } = new();

    internal required SeededRandom Random { get; init; }

    internal required Log Log { get; init; }

    /// <summary>What separates tenants; null if nothing does.</summary>
    internal NodeTenants? Tenants { get; init; }

    /// <summary>Supervises work that is not awaited.</summary>
    internal required Background Background { get; init; }

    /// <summary>Creates an id for an activation or an observer of this node.</summary>
    internal required Func<Guid> NewId { get; init; }

    internal required TimeSpan ResponseTimeout { get; init; }

    /// <summary>Time limit of calls to system targets; as <see cref="ResponseTimeout"/> on a client.</summary>
    internal required TimeSpan SystemResponseTimeout { get; init; }

    /// <summary>The most bytes of a request before its arguments.</summary>
    internal required int MaxHeaderBytes { get; init; }

    /// <summary>The largest message, in bytes.</summary>
    internal required int MaxFrameBytes { get; init; }

    /// <summary>True while this silo takes new activations.</summary>
    internal bool AcceptsActivations => IsSilo && !IsStopping;

    /// <summary>True once the silo has begun to end its activations, or has been declared dead.</summary>
    internal bool IsStopping => _isStopping || _isDead;

    /// <summary>True once the others have declared this silo dead, or the node was killed.</summary>
    internal bool IsDead => _isDead;

    internal void MarkStopping() => _isStopping = true;

    internal void MarkDead() => _isDead = true;
}

/// <summary>The node's source of randomness: one seed, any thread.</summary>
internal sealed class SeededRandom(int seed)
{
    private readonly Lock _gate = new();
    private readonly Random _random = new(seed);

    internal int Next(int limit)
    {
        lock (_gate)
            return _random.Next(limit);
    }

    internal void Shuffle<T>(T[] items)
    {
        lock (_gate)
            _random.Shuffle(items);
    }
}

/// <summary>Chooses the calls outside of any trace that ask the listeners. Any thread. See CallTracingOptions.RootShare.</summary>
internal sealed class RootTraces(double share)
{
    /// <summary>2^64 divided by the golden ratio: its multiples spread evenly, whatever part of them is looked at.</summary>
    private const ulong Step = 0x9E3779B97F4A7C15;

    /// <summary>Of all numbers of 64 bits; the largest stands for all.</summary>
    private readonly ulong _below = share >= 1 ? ulong.MaxValue : (ulong)(share * Math.Pow(2, 64));

    [ThreadStatic]
    private static ulong t_number;

    /// <summary>Not all calls ask.</summary>
    internal bool DropsAny => _below != ulong.MaxValue;

    /// <summary>The next call of this thread asks.</summary>
    internal bool Ask() => _below == ulong.MaxValue || (t_number += Step) < _below;
}
