using ActOp.Simulation.World;
using ActOp.Testing.Simulated;

namespace ActOp.Simulation.Checks;

/// <summary>Why a call may have failed: it must have had a cause while it was under way or shortly before.</summary>
internal sealed class Causes(World.World world, Func<Faults> faults)
{
    /// <summary>What is not felt by calls.</summary>
    private static readonly FaultKind[] Felt =
        [.. Enum.GetValues<FaultKind>().Where(static kind => kind is not (FaultKind.ClockJump or FaultKind.HookThrows))];

    /// <summary>Silos and clients come one after the other in the first seconds of a run.</summary>
    private const long Beginning = 6 * Pump.Second;

    private readonly Dictionary<long, long> _busyUntil = [];
    private long _hookThrew = long.MinValue / 2;
    private long _largeUntil = long.MinValue / 2;

    /// <summary>What a fault causes after its end: suspicion, votes, the lease of a silent silo, and retries.</summary>
    private long Aftermath => (Pump.Second * 15) + world.Settings.ResponseTimeout.Ticks
        + (world.Settings.HasLease ? world.Settings.Lease.Ticks : 0);

    /// <summary>The grain has something to do that takes this long, or waits for others until then; its other callers wait.</summary>
    internal void Busy(long grain, long time) =>
        _busyUntil[grain] = Math.Max(_busyUntil.GetValueOrDefault(grain), world.Pump.Now + time);

    /// <summary>A grain calls others, which may call it: it may wait for as long as a call may.</summary>
    internal void Waits(long grain) => Busy(grain, world.Settings.ResponseTimeout.Ticks + Pump.Second);

    /// <summary>A large message is on its way for this long at most.</summary>
    internal void Large(long time) => _largeUntil = Math.Max(_largeUntil, world.Pump.Now + time);

    /// <summary>Whether large messages were under way at the time or later.</summary>
    internal bool AnyLarge(long since) => _largeUntil >= since;

    internal void HookThrew() => _hookThrew = world.Pump.Now;

    /// <summary>Why the call may have ended so; null if it may not.</summary>
    internal Excuse? Of(Ticket ticket, Exception exception)
    {
        var since = ticket.Since;
        if (ticket.Caller is not { State: MachineState.Up, WasEvicted: false })
            return Excuse.CallerEnds;
        if (exception is InvalidOperationException and not ObjectDisposedException)
            return _hookThrew >= since - Aftermath ? Excuse.Hook : null;
        if (exception is LimitExceededException && world.Settings.MailboxLimit <= 100)
            return Excuse.FullMailbox;
        if (faults().Any(since - Aftermath, Felt))
            return Excuse.Fault;
        if (world.ChangedAt >= since - Aftermath || since < Beginning)
            return Excuse.Change;
        if (exception is TimeoutException && _busyUntil.GetValueOrDefault(ticket.Counter) >= since)
            return Excuse.SlowCall;
        return AnyLarge(since) ? Excuse.FullLink : null;
    }
}
