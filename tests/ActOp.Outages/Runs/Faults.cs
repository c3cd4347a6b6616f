using ActOp.Harness.Processes;
using ActOp.Outages.Networks;

namespace ActOp.Outages.Runs;

/// <summary>Begins and ends faults. One at a time.</summary>
internal sealed class Faults(
    OutageOptions options, Silos silos, PostgresServer server, FakeClock databaseClock, Switch network, int database)
{
    private const double SlowLoss = 0.02;

    /// <summary>Has it happen.</summary>
    internal async Task BeginAsync(Fault fault)
    {
        switch (fault.Kind)
        {
            case FaultKind.Kill:
                await silos.KillAsync(fault.Target).ConfigureAwait(false);
                break;
            case FaultKind.Pause:
                await silos.PauseAsync(fault.Target).ConfigureAwait(false);
                break;
            case FaultKind.Clock:
                SetClock(fault.Target, fault.Amount);
                break;
            case FaultKind.ClockKill:
                SetClock(fault.Target, fault.Amount);
                await silos.KillAsync(fault.Target).ConfigureAwait(false);
                break;
            case FaultKind.DatabaseKill:
                await server.KillAsync().ConfigureAwait(false);
                break;
            case FaultKind.DatabasePause:
                server.Pause();
                break;
            default:
                network.Change(cables => Change(cables, fault));
                break;
        }
    }

    /// <summary>Takes it back.</summary>
    internal async Task EndAsync(Fault fault)
    {
        switch (fault.Kind)
        {
            case FaultKind.Kill:
                silos.Start(fault.Target);
                break;
            case FaultKind.Pause:
                await silos.ContinueAsync(fault.Target).ConfigureAwait(false);
                break;
            case FaultKind.Clock:
                SetClock(fault.Target, 0);
                break;
            case FaultKind.ClockKill:
                // It starts with the wrong clock, and has it set right later.
                silos.Start(fault.Target);
                await Task.Delay(FakeClock.Delay * 5, TimeProvider.System).ConfigureAwait(false);
                SetClock(fault.Target, 0);
                break;
            case FaultKind.DatabaseKill:
                await server.StartAgainAsync().ConfigureAwait(false);
                break;
            case FaultKind.DatabasePause:
                server.Continue();
                break;
            default:
                network.Change(Heal);
                break;
        }
    }

    private void SetClock(int target, long seconds)
    {
        if (target == options.Silos)
            databaseClock.Set(seconds);
        else
            silos.SetClock(target, seconds);
    }

    private int Ports => options.Silos + 1 + options.Clients;

    private void Change(Cables cables, Fault fault)
    {
        for (var one = 0; one < Ports; one++)
        {
            for (var other = 0; other < Ports; other++)
            {
                if (one != other)
                    cables[one, other] = CableOf(fault, one, other);
            }
        }
    }

    /// <summary>The cable between two ports while a fault lasts: silos first, then the database, then the clients.</summary>
    internal Cable CableOf(Fault fault, int from, int to)
    {
        var cut = new Cable(IsCut: true);
        return fault.Kind switch
        {
            FaultKind.Isolate when from == fault.Target || to == fault.Target => cut,
            FaultKind.Mute when from == fault.Target => cut,
            FaultKind.Deaf when to == fault.Target => cut,
            FaultKind.Split when from < database && to < database && Side(from) != Side(to) && Hits(Side(from)) => cut,
            FaultKind.DatabaseCut when (from, to) == (fault.Target, database) && Hits(true) => cut,
            FaultKind.DatabaseCut when (from, to) == (database, fault.Target) && Hits(false) => cut,
            FaultKind.ClientCut when from == Client() && to < database && Hits(true) => cut,
            FaultKind.ClientCut when to == Client() && from < database && Hits(false) => cut,
            FaultKind.Slow when fault.Target < 0 => Delayed(fault.Amount),
            FaultKind.Slow when from == fault.Target || to == fault.Target => new Cable(Loss: SlowLoss, BytesPerSecond: fault.Amount),
            _ => default,
        };

        bool Side(int silo) => (fault.Target & (1 << silo)) != 0;
        bool Hits(bool isOut) => fault.Direction == Direction.Both || fault.Direction == (isOut ? Direction.Out : Direction.In);
        int Client() => database + 1 + fault.Target;
    }

    private static Cable Delayed(long milliseconds)
    {
        var delay = TimeSpan.FromMilliseconds(milliseconds);
        return new Cable(Delay: delay, Jitter: delay / 2);
    }

    private void Heal(Cables cables)
    {
        for (var one = 0; one < Ports; one++)
        {
            for (var other = 0; other < Ports; other++)
                cables[one, other] = default;
        }
    }
}
