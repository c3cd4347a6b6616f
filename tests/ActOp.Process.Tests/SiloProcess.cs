using ActOp.Harness.Processes;

namespace ActOp.Process.Tests;

/// <summary>A silo in a process of its own.</summary>
internal sealed class SiloProcess : IAsyncDisposable
{
    private readonly ChildProcess _process;
    private readonly Transcript _said;

    private SiloProcess(ChildProcess process, Transcript said, int port, int gateway)
    {
        _process = process;
        _said = said;
        Port = port;
        Gateway = gateway;
    }

    public int Port { get; }

    public int Gateway { get; }

    /// <summary>Everything that the process has said.</summary>
    public string Output => _said.Text + Environment.NewLine + _process.Tail;

    /// <summary>Starts a process; it is no member of the cluster before <see cref="Ready"/>.</summary>
    /// <param name="port">Silo port.</param>
    /// <param name="gateway">Port for clients.</param>
    /// <param name="primary">Silo port of the silo that holds the membership table.</param>
    /// <param name="descriptors">The most files and sockets that the process may have open; null for the system's limit.</param>
    /// <param name="program">The assembly; null for ActOp.Process.Silo.</param>
    public static SiloProcess Start(int port, int gateway, int primary, int? descriptors = null, string? program = null)
    {
        string[] silo = [.. ChildProcess.CommandOf(program ?? Path.Combine(AppContext.BaseDirectory, "ActOp.Process.Silo.dll")),
            port.ToString(), gateway.ToString(), primary.ToString()];
        // The shell becomes the silo: its process id and its pipes stay the same.
        var command = descriptors is { } limit ? ["sh", "-c", "ulimit -n \"$0\" && exec \"$@\"", limit.ToString(), .. silo] : silo;
        var said = new Transcript();
        return new SiloProcess(ChildProcess.StartCommand("silo", command, said.Take), said, port, gateway);
    }

    /// <summary>Starts a process that is a client of the silo with a gateway port.</summary>
    public static SiloProcess StartClient(string program, int gateway)
    {
        var said = new Transcript();
        return new SiloProcess(
            ChildProcess.StartCommand("client", [.. ChildProcess.CommandOf(program), gateway.ToString()], said.Take), said, 0, gateway);
    }

    public Task Ready() => Says("READY");

    /// <summary>Completes when the silo's view has lost the silo at a port.</summary>
    public Task Drops(SiloProcess other) => Says($"left S127.0.0.1:{other.Port}:");

    /// <summary>Completes when the silo's view has this many active silos.</summary>
    public Task Sees(int active) => Says($": {active} active silos");

    public Task Says(string text) => _said.WaitForAsync(line => line.Contains(text, StringComparison.Ordinal)).WaitAsync(Limits.Patience);

    /// <summary>SIGKILL.</summary>
    public void Kill() => _process.Kill();

    /// <summary>SIGKILL; completes when the process is over.</summary>
    public Task KillAsync() => _process.KillAsync(static () => { }).WaitAsync(Limits.Patience);

    /// <summary>Asks the silo to stop; completes when its process is over.</summary>
    public async Task StopAsync()
    {
        using var limit = new CancellationTokenSource(Limits.Patience);
        await _process.StopAsync(limit.Token);
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
            await KillAsync();
        await _process.DisposeAsync();
    }
}
