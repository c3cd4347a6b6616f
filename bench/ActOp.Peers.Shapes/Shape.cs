using ActOp.Harness.Processes;

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
public sealed record Shape(string Name, string What, bool Moves, Func<ShapeRun, Task> PlayAsync, bool IsLong = false)
{
    /// <summary>All of them, in the order of the table.</summary>
    public static IReadOnlyList<Shape> All { get; } =
    [
        new("hosted", "calls from code of the silo's process that is no grain", false, CallShapes.HostedAsync),
        new("pairs", "pairs of grains of one silo, each calling its partner", true, CallShapes.PairsAsync),
        new("silos", "pairs of grains on two silos", false, CallShapes.SilosAsync),
        new("client", "calls of a client, closed loop and open loop at 30 % of its rate", false, CallShapes.ClientAsync),
        new("create", "grains that their first call creates, and the heap of an idle one", false, GrainShapes.CreateAsync),
        new("observers", "one grain notifies 1,000 observers of a client", false, GrainShapes.ObserversAsync),
        new("streams", "8 streams in memory, from grain to grain", false, GrainShapes.StreamsAsync),
        new("timers", "20,000 grains with a timer of 100 ms", false, GrainShapes.TimersAsync),
        new("heartbeat", "beats of 10,000 grains, 2,000/s, open loop", false, HeartbeatShape.PlainAsync),
        new("blocking", "beats that keep their thread for 10 ms, 500/s, open loop", true, HeartbeatShape.BlockingAsync, true),
        new("halo", "Halo Presence with churn on 4 silos", true, HaloShape.PlayAsync, true),
        new("start", "from the start of a process to a silo that answers its first call", false, ClusterShapes.StartAsync),
        new("kill", "one of three silos is killed while a client calls", false, ClusterShapes.KillAsync, true),
    ];

    /// <summary>The shape of this name, or null.</summary>
    public static Shape? Find(string name) => All.FirstOrDefault(shape => shape.Name == name);
}

/// <summary>One play of a shape on a runtime: what it may use, and where its results go. Owns the processes that it starts.</summary>
public sealed class ShapeRun(
    IPeerRuntime runtime, string variant, bool moves, int milliseconds, bool isShort, Action<Measure> report) : IAsyncDisposable
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);

    private readonly List<ChildProcess> _silos = [];
    private int _primary;

    /// <summary>The runtime.</summary>
    public IPeerRuntime Runtime => runtime;

    /// <summary>Length of a measurement.</summary>
    public int Milliseconds => milliseconds;

    /// <summary>Length of a measurement.</summary>
    public TimeSpan Length => TimeSpan.FromMilliseconds(milliseconds);

    /// <summary>Whether only a little is to be done, to see that it works.</summary>
    public bool IsShort => isShort;

    /// <summary>Processor time of the silos in processes of their own.</summary>
    public TimeSpan SiloCpu => _silos.Where(static silo => !silo.HasExited).Aggregate(TimeSpan.Zero, static (sum, silo) => sum + silo.Cpu);

    /// <summary>Reports a value of which more is better.</summary>
    public void Rate(string name, string unit, double value) => report(new Measure(name, unit, value, true));

    /// <summary>Reports a value of which less is better.</summary>
    public void Cost(string name, string unit, double value) => report(new Measure(name, unit, value, false));

    /// <summary>Starts a silo in a process of its own; all of a run form one cluster.</summary>
    public async Task<(PeerPorts Ports, ChildProcess Process)> StartSiloAsync()
    {
        var free = Ports.FindFree(2);
        if (_primary == 0)
            _primary = free[0];
        var ports = new PeerPorts(free[0], free[1], _primary, moves);
        var said = new Transcript();
        var process = ChildProcess.StartCommand(
            "silo", [.. ChildProcess.ThisProgram, .. PeerProgram.SiloArguments(variant, ports)], said.Take);
        _silos.Add(process);
        var ready = said.WaitForAsync(static line => line == PeerProgram.Ready);
        using var limit = new CancellationTokenSource(StartLimit);
        if (await Task.WhenAny(ready, process.WaitForExitAsync(limit.Token)) != ready)
            throw new InvalidOperationException("A silo did not start: " + process.Tail);
        return (ports, process);
    }

    /// <summary>Starts several silos, one after the other.</summary>
    public async Task<IReadOnlyList<PeerPorts>> StartSilosAsync(int count)
    {
        var silos = new List<PeerPorts>();
        for (var i = 0; i < count; i++)
            silos.Add((await StartSiloAsync()).Ports);
        return silos;
    }

    /// <summary>Starts a silo in this process.</summary>
    public Task<IPeerNode> StartSiloHereAsync()
    {
        var free = Ports.FindFree(2);
        return runtime.StartSiloAsync(new PeerPorts(free[0], free[1], free[0], moves));
    }

    /// <summary>What the runtime has; a shape without it ends here.</summary>
    public static T Require<T>(IPeerNode node)
        where T : class => node as T ?? throw new NotSupportedException();

    /// <summary>Ends the silos, without the patience for an orderly end: nobody needs them any more.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var silo in _silos.Where(static silo => !silo.HasExited))
            silo.Kill();
        foreach (var silo in _silos)
            await silo.DisposeAsync();
    }
}
