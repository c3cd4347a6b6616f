using ActOp.Harness.Processes;

namespace ActOp.Peers.Shapes;

/// <summary>How a shape is played.</summary>
/// <param name="Variant">The runtime.</param>
/// <param name="Moves">Whether grains may move.</param>
/// <param name="Milliseconds">Length of a measurement.</param>
/// <param name="IsShort">Whether only a little is to be done, to see that it works.</param>
/// <param name="Hosts">Machines that start the silos, each an address and the port of its <see cref="SiloServer"/>; none for this
/// machine.</param>
public sealed record ShapeSettings(string Variant, bool Moves, int Milliseconds, bool IsShort, IReadOnlyList<string> Hosts);

/// <summary>A silo in a process of its own.</summary>
public interface ISiloProcess : IAsyncDisposable
{
    /// <summary>Processor time so far; 0 when it has ended.</summary>
    TimeSpan Cpu { get; }

    /// <summary>Of this, the time that compiled methods again while it ran; 0 if that is not known.</summary>
    TimeSpan CompilationCpu { get; }

    /// <summary>Ends it without a chance to say anything.</summary>
    void Kill();
}

/// <summary>One play of a shape on a runtime: what it may use, and where its results go. Owns the processes that it starts.</summary>
public sealed class ShapeRun(IPeerRuntime runtime, ShapeSettings settings, Action<Measure> report) : IAsyncDisposable
{
    private readonly List<ISiloProcess> _silos = [];
    private readonly List<SiloHost> _hosts = [];
    private PeerPorts? _primary;

    /// <summary>The runtime.</summary>
    public IPeerRuntime Runtime => runtime;

    /// <summary>Length of a measurement.</summary>
    public int Milliseconds => settings.Milliseconds;

    /// <summary>Length of a measurement.</summary>
    public TimeSpan Length => TimeSpan.FromMilliseconds(settings.Milliseconds);

    /// <summary>Whether only a little is to be done, to see that it works.</summary>
    public bool IsShort => settings.IsShort;

    /// <summary>Processor time of the silos in processes of their own.</summary>
    public TimeSpan SiloCpu => _silos.Aggregate(TimeSpan.Zero, static (sum, silo) => sum + silo.Cpu);

    /// <summary>What the compiler of the silos' code has of this.</summary>
    public TimeSpan CompilationCpu => _silos.Aggregate(TimeSpan.Zero, static (sum, silo) => sum + silo.CompilationCpu);

    /// <summary>Reports a value of which more is better.</summary>
    public void Rate(string name, string unit, double value) => report(new Measure(name, unit, value, true));

    /// <summary>Reports a value of which less is better.</summary>
    public void Cost(string name, string unit, double value) => report(new Measure(name, unit, value, false));

    /// <summary>Starts a silo in a process of its own; all of a run form one cluster, on the machines in turn.</summary>
    public async Task<(PeerPorts Ports, ISiloProcess Process)> StartSiloAsync()
    {
        foreach (var host in settings.Hosts.Skip(_hosts.Count))
            _hosts.Add(await SiloHost.ConnectAsync(host));
        var (ports, silo) = _hosts.Count == 0
            ? await StartLocalAsync() : await _hosts[_silos.Count % _hosts.Count].StartAsync(settings.Variant, _primary, settings.Moves);
        _primary ??= ports;
        _silos.Add(silo);
        return (ports, silo);
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
    public Task<IPeerNode> StartSiloHereAsync(string? database = null) =>
        runtime.StartSiloAsync(PeerPorts.FindFree(null, settings.Moves) with { Database = database, IsAlone = true });

    /// <summary>What the runtime has; a shape without it ends here.</summary>
    public static T Require<T>(IPeerNode node)
        where T : class => node as T ?? throw new NotSupportedException();

    /// <summary>Ends the silos, without the patience for an orderly end: nobody needs them any more.</summary>
    public async ValueTask DisposeAsync()
    {
        // Those of other machines end with the connection.
        _hosts.ForEach(static host => host.Dispose());
        foreach (var silo in _silos.OfType<LocalSilo>())
            silo.Kill();
        foreach (var silo in _silos)
            await silo.DisposeAsync();
    }

    private async Task<(PeerPorts Ports, ISiloProcess Process)> StartLocalAsync()
    {
        var ports = PeerPorts.FindFree(_primary?.Port, settings.Moves);
        return (ports, await LocalSilo.StartAsync([.. ChildProcess.ThisProgram], settings.Variant, ports));
    }
}

/// <summary>A silo that this process has started.</summary>
public sealed class LocalSilo : ISiloProcess
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(60);
    private readonly ChildProcess _process;

    private LocalSilo(ChildProcess process) => _process = process;

    /// <inheritdoc/>
    public TimeSpan Cpu => _process.HasExited ? TimeSpan.Zero : _process.Cpu;

    /// <inheritdoc/>
    public TimeSpan CompilationCpu => _process.HasExited ? TimeSpan.Zero : _process.CompilationCpu;

    /// <summary>Starts it, and waits until it is active.</summary>
    /// <param name="program">The program of the runtime.</param>
    /// <param name="variant">The runtime.</param>
    /// <param name="ports">Where it listens.</param>
    /// <exception cref="InvalidOperationException">It has ended.</exception>
    public static async Task<LocalSilo> StartAsync(string[] program, string variant, PeerPorts ports)
    {
        var said = new Transcript();
        var process = ChildProcess.StartCommand("silo", [.. program, .. PeerProgram.SiloArguments(variant, ports)], said.Take);
        var ready = said.WaitForAsync(static line => line == PeerProgram.Ready);
        using var limit = new CancellationTokenSource(StartLimit);
        if (await Task.WhenAny(ready, process.WaitForExitAsync(limit.Token)) == ready)
            return new LocalSilo(process);
        var tail = process.Tail;
        if (!process.HasExited)
            process.Kill();
        await process.DisposeAsync();
        throw new InvalidOperationException("A silo did not start: " + tail);
    }

    /// <inheritdoc/>
    public void Kill()
    {
        if (!_process.HasExited)
            _process.Kill();
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
