namespace ActOp.Peers.Shapes;

/// <summary>What a shape has measured.</summary>
/// <param name="Name">What.</param>
/// <param name="Unit">In which unit.</param>
/// <param name="Value">One value: rounds and their spread are the business of who asks.</param>
/// <param name="IsRate">Whether more is better.</param>
public sealed record Measure(string Name, string Unit, double Value, bool IsRate);

/// <summary>A load that is the same for all runtimes.</summary>
/// <param name="Name">As the command line has it.</param>
/// <param name="What">In a line.</param>
/// <param name="Moves">Whether grains or threads move, so that the variants of Orleans are measured, too.</param>
/// <param name="PlayAsync">Plays it once.</param>
/// <param name="IsLong">Whether it takes most of a minute, and is played in every third round.</param>
/// <param name="IsApart">Whether its silos are processes of their own, which may be on other machines.</param>
public sealed record Shape(
    string Name, string What, bool Moves, Func<ShapeRun, Task> PlayAsync, bool IsLong = false, bool IsApart = false)
{
    /// <summary>All of them, in the order of the table.</summary>
    public static IReadOnlyList<Shape> All { get; } =
    [
        new("hosted", "calls from code of the silo's process that is no grain", false, CallShapes.HostedAsync),
        new("pairs", "pairs of grains of one silo, each calling its partner", true, CallShapes.PairsAsync),
        new("silos", "pairs of grains on two silos", false, CallShapes.SilosAsync, IsApart: true),
        new("client", "calls of a client, closed loop and open loop at 30 % of its rate", false, CallShapes.ClientAsync, IsApart: true),
        new("create", "grains that their first call creates, and the heap of an idle one", false, GrainShapes.CreateAsync),
        new("observers", "one grain notifies 1,000 observers of a client", false, GrainShapes.ObserversAsync, IsApart: true),
        new("streams", "8 streams in memory, from grain to grain", false, GrainShapes.StreamsAsync),
        new("timers", "20,000 grains with a timer of 100 ms", false, GrainShapes.TimersAsync),
        new("states", "grains that write their state to PostgreSQL", false, StateShape.PlayAsync),
        new("heartbeat", "beats of 10,000 grains, 2,000/s, open loop", false, HeartbeatShape.PlainAsync, IsApart: true),
        new("blocking", "beats that keep their thread for 10 ms, 500/s, open loop", true, HeartbeatShape.BlockingAsync, true, true),
        new("halo", "Halo Presence with churn on 4 silos", true, HaloShape.PlayAsync, true, true),
        new("start", "from the start of a process to a silo that answers its first call", false, ClusterShapes.StartAsync, IsApart: true),
        new("kill", "one of three silos is killed while a client calls", false, ClusterShapes.KillAsync, true, true),
    ];

    /// <summary>The shape of this name, or null.</summary>
    public static Shape? Find(string name) => All.FirstOrDefault(shape => shape.Name == name);
}

/// <summary>Something that a shape needs is not on this machine.</summary>
public sealed class NotHereException(string message) : Exception(message);
