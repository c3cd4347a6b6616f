using System.Runtime.CompilerServices;
using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Groups;
using ActOp.Staging.Groups;
using Orleans.Runtime;

namespace ActOp.Runtime.Groups;

/// <summary>The limits of a group, in the order of <see cref="GrainGroup.Refused(GroupLimit)"/>.</summary>
internal enum GroupLimit
{
    /// <summary><see cref="GroupOptions.MaxActivations"/>.</summary>
    Activations,

    /// <summary><see cref="GroupOptions.MaxQueued"/>.</summary>
    Queued,

    /// <summary><see cref="GroupOptions.MaxCallsPerSecond"/>.</summary>
    CallsPerSecond,
}

/// <summary>
/// One group of grains on this silo: its limits, and what it has of them. Its share of the time is in <see cref="OfStage"/>.
/// </summary>
/// <remarks>
/// Any thread, without a lock. A request that counts as waiting refers to its group (<see cref="Call.CountedIn"/>) from
/// <see cref="TryAdmit"/> or <see cref="Count"/> until <see cref="Release"/>; it is counted by whoever has it, so in one group at a time.
/// </remarks>
internal sealed class GrainGroup(LocalNode local, string name, GroupOptions options, StageGroup ofStage, RequestCosts? costs = null)
{
    private static readonly string[] LimitNames =
        [nameof(GroupOptions.MaxActivations), nameof(GroupOptions.MaxQueued), nameof(GroupOptions.MaxCallsPerSecond)];

    private volatile Limits _limits = new(options, local.Time.TimestampFrequency);
    private readonly long[] _refused = new long[LimitNames.Length];
    private readonly CountedLine[] _lines = new CountedLine[LimitNames.Length];
    private long _activations;
    private long _queued;

    /// <summary>When the next call would come at the greatest rate, as a time stamp.</summary>
    private double _nextCall;

    internal string Name { get; } = name;

    internal StageGroup OfStage { get; } = ofStage;

    /// <summary>A request must be admitted.</summary>
    internal bool IsLimited => _limits.AdmitsRequests;

    /// <summary>What it gets now. Replaced as a whole.</summary>
    internal GroupOptions Options => _limits.Options;

    /// <summary>The time for which it has held threads of the work stage, in microseconds.</summary>
    internal double Used => OfStage.Used;

    /// <summary>What it had used too much when it last ended a slice, in microseconds.</summary>
    internal double Debt => OfStage.Debt;

    /// <summary>The weight with which it competes: that of the options, or more if its guarantee needs it.</summary>
    internal double Weight => OfStage.Shape.Weight;

    /// <summary>How long it waits for a thread, 99th percentile, in microseconds.</summary>
    internal double WaitP99 => OfStage.Waits.At(0.99);

    /// <summary>Activations that wait for a thread. A racy snapshot.</summary>
    internal int Ready => OfStage.Queued;

    /// <summary>Activations whose next request costs more than what is left of the interval. A racy snapshot.</summary>
    internal int Held => OfStage.Held;

    /// <summary>What requests cost; null without ticks.</summary>
    internal RequestCosts? Costs { get; } = costs;

    /// <summary>A budget of it is spent: its turns wait for the next interval. A racy snapshot.</summary>
    internal bool IsInactive => OfStage.IsBlocked;

    internal long Activations => Interlocked.Read(ref _activations);

    /// <summary>Requests that wait; counted only with a limit.</summary>
    internal long Queued => Interlocked.Read(ref _queued);

    internal static string NameOf(GroupLimit limit) => LimitNames[(int)limit];

    internal long Refused(GroupLimit limit) => Interlocked.Read(ref _refused[(int)limit]);

    /// <summary>
    /// Other limits from now on. What is there already stays; requests that wait without having been counted are not counted later.
    /// </summary>
    internal void Change(GroupOptions to) => _limits = new Limits(to, local.Time.TimestampFrequency);

    /// <summary>Counts an activation that starts.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="mayRefuse">False for one that has come with the state of the grain.</param>
    /// <exception cref="GroupOverloadedException">There are as many as the limit.</exception>
    internal void Enter(GrainId grain, bool mayRefuse)
    {
        var now = Interlocked.Increment(ref _activations);
        if (!mayRefuse || _limits.Options.MaxActivations is not { } limit || now <= limit)
            return;
        Leave();
        throw Refuse(GroupLimit.Activations, limit, TimeSpan.FromSeconds(1), "the activation of " + grain);
    }

    /// <summary>An activation that was counted has ended.</summary>
    internal void Leave() => Interlocked.Decrement(ref _activations);

    /// <summary>Counts a request that arrives. The exception to refuse it with, or null.</summary>
    internal GroupOverloadedException? TryAdmit(Call call)
    {
        if (call.Method.IsOfRuntime)
            return null;
        var limits = _limits;
        if (limits.Options.MaxQueued is { } most && Queued >= most)
        {
            var drained = TimeSpan.FromMicroseconds(Math.Clamp(most * OfStage.MeanItem, 10_000, 10_000_000));
            return Refuse(GroupLimit.Queued, most, drained, call.Method.ActivityName);
        }

        if (limits.CallInterval > 0 && !TryUseRate(limits.CallInterval, out var wait))
            return Refuse(GroupLimit.CallsPerSecond, limits.Options.MaxCallsPerSecond!.Value, wait, call.Method.ActivityName);
        Count(call);
        return null;
    }

    /// <summary>A request of the group waits from now on. Nothing if it was counted before.</summary>
    internal void Count(Call call)
    {
        if (_limits.Options.MaxQueued is null || call.Method.IsOfRuntime || call.CountedIn is not null)
            return;
        call.CountedIn = this;
        Interlocked.Increment(ref _queued);
    }

    /// <summary>A request does not wait any more. Nothing if it was not counted.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static void Release(Call call)
    {
        if (call.CountedIn is not null)
            ReleaseCounted(call);
    }

    private static void ReleaseCounted(Call call)
    {
        Interlocked.Decrement(ref ((GrainGroup)call.CountedIn!)._queued);
        call.CountedIn = null;
    }

    /// <summary>The generic cell rate algorithm (ITU-T I.371), with the calls of one second at once.</summary>
    private bool TryUseRate(double interval, out TimeSpan wait)
    {
        double now = local.Time.GetTimestamp();
        var burst = Math.Max(local.Time.TimestampFrequency, interval);
        while (true)
        {
            var next = Volatile.Read(ref _nextCall);
            var begin = Math.Max(next, now);
            if (begin + interval - now > burst + 1)
            {
                wait = TimeSpan.FromSeconds((begin + interval - now - burst) / local.Time.TimestampFrequency);
                return false;
            }

            wait = default;
            if (Interlocked.CompareExchange(ref _nextCall, begin + interval, next).Equals(next))
                return true;
        }
    }

    /// <summary>Counts a request that the group could not refuse.</summary>
    internal void UseRate()
    {
        var interval = _limits.CallInterval;
        for (var next = Volatile.Read(ref _nextCall); interval > 0; next = Volatile.Read(ref _nextCall))
        {
            var after = Math.Max(next, local.Time.GetTimestamp()) + interval;
            if (Interlocked.CompareExchange(ref _nextCall, after, next).Equals(next))
                return;
        }
    }

    private GroupOverloadedException Refuse(GroupLimit limit, double value, TimeSpan retryAfter, string what)
    {
        var index = (int)limit;
        Interlocked.Increment(ref _refused[index]);
        if (_lines[index].Add(local.Clock.Now, out var count))
            local.Log.GroupRefused(Name, count, NameOf(limit), value, what);
        return new GroupOverloadedException(
            "The group \"" + Name + "\" has reached its limit on " + local.Address + ": " + NameOf(limit) + " is " + value + ". Refused: "
            + what + ". Try again after " + Math.Ceiling(retryAfter.TotalMilliseconds) + " ms.",
            Name, NameOf(limit), retryAfter);
    }

    /// <summary>The limits at one time.</summary>
    private sealed class Limits(GroupOptions options, long frequency)
    {
        internal GroupOptions Options { get; } = options;

        internal bool AdmitsRequests { get; } = options.MaxQueued is not null || options.MaxCallsPerSecond is not null;

        /// <summary>The time between two calls at the greatest rate, in time stamps; 0 without a limit.</summary>
        internal double CallInterval { get; } = options.MaxCallsPerSecond is { } rate ? frequency / rate : 0;
    }
}
