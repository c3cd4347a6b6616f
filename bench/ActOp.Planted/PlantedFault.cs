namespace ActOp.Planted;

/// <summary>
/// A fault that applications have, in grains that are written for it: the simulation must find it, and must find nothing in the same
/// grains without it.
/// </summary>
/// <param name="Name">The name that tables show.</param>
/// <param name="What">What is wrong, in a line.</param>
/// <param name="Faulty">A test of the grain with the fault.</param>
/// <param name="Sound">The same test of a grain without it.</param>
/// <param name="Failure">A part of the failure's text.</param>
/// <param name="MostFaults">What a reduced failure has left of the faults of the world, at most.</param>
/// <param name="MostCommands">The same for commands of the test.</param>
internal sealed record PlantedFault(
    string Name, string What, Func<SimulationWorld, Task> Faulty, Func<SimulationWorld, Task> Sound, string Failure, int MostFaults,
    int MostCommands)
{
    /// <summary>Each is found by one of so many seeds.</summary>
    internal const int MostSeeds = 1000;

    /// <summary>On a machine that is busy with other things, reducing takes long.</summary>
    internal static SimulationBudget Patient { get; } = new() { RealTime = TimeSpan.FromMinutes(10) };

    internal static IReadOnlyList<PlantedFault> All { get; } =
    [
        AccountFaults.Fault, VisitFaults.Fault, SeatFaults.Fault, CellFaults.Fault, InvoiceFaults.Fault, WalletFaults.Fault,
        PartnerFaults.Fault, CounterFaults.Fault, TotalFaults.Fault, HallFaults.Fault, CommitFaults.TwoPhases,
        CommitFaults.WithTermination, CommitFaults.ThreePhases, GossipFaults.Fault, ReplicaFaults.Strong, ReplicaFaults.Causal,
        ReplicaFaults.Eventual, BellFaults.Fault, SessionFaults.Fault,
    ];

    public override string ToString() => Name;

    /// <summary>Repeats what fails, as clients do, until it has succeeded.</summary>
    internal static async Task RetryAsync(SimulationWorld world, Func<Task> call)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                await call();
                return;
            }
            catch (Exception exception) when (exception is not SimulationException && attempt < 40)
            {
                world.Note("retries after " + exception.GetType().Name);
                await world.Delay(TimeSpan.FromMilliseconds(250));
            }
        }
    }
}
