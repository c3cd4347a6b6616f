using System.Globalization;
using ActOp.Harness.Processes;

namespace ActOp.Bench.Hosting;

/// <summary>What the connections of a silo pass through.</summary>
/// <param name="Tls">The file of the certificate; null for no TLS.</param>
/// <param name="Middleware">Whether middleware looks on that changes nothing.</param>
internal readonly record struct SiloLinks(string? Tls, bool Middleware);

/// <summary>A silo in a process of its own; ends when disposed or when this process ends.</summary>
internal sealed class SiloProcess : IDisposable
{
    /// <summary>The hidden command that makes this program a silo.</summary>
    internal const string Command = "silo";

    private const string Ready = "ready";
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);
    private readonly ChildProcess _process;

    private SiloProcess(ChildProcess process, int port, int gateway)
    {
        _process = process;
        Port = port;
        Gateway = gateway;
    }

    internal int Port { get; }

    internal int Gateway { get; }

    /// <summary>CPU time of the process so far.</summary>
    internal TimeSpan Cpu => _process.Cpu;

    internal static SiloProcess Start(int? primary, SiloLinks links = default)
    {
        var ports = Ports.FindFree(2);
        string[] command = [.. ChildProcess.ThisProgram, Command, "--port", Text(ports[0]), "--gateway", Text(ports[1]), "--primary",
            Text(primary ?? 0), .. links.Tls is { } tls ? ["--tls", tls] : Array.Empty<string>(),
            .. links.Middleware ? ["--middleware"] : Array.Empty<string>()];
        var said = new Transcript();
        var process = ChildProcess.StartCommand("silo", command, said.Take);
        said.WaitForAsync(static line => line == Ready).WaitAsync(StartLimit).GetAwaiter().GetResult();
        return new SiloProcess(process, ports[0], ports[1]);
    }

    /// <summary>The silo process itself: runs until standard input ends.</summary>
    internal static async Task<int> RunAsync(int port, int gateway, int primary, SiloLinks links)
    {
        var ended = ParentWatch.Start();
        await using var host = await BenchHost.StartSilo(port, gateway, primary == 0 ? null : primary, locality: false, links: links);
        Console.Out.WriteLine(Ready);
        Console.Out.Flush();
        await Task.Delay(Timeout.InfiniteTimeSpan, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return 0;
    }

    public void Dispose() => _process.DisposeAsync().AsTask().GetAwaiter().GetResult();

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
