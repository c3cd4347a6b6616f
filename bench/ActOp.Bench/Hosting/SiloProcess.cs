using System.Diagnostics;
using System.Globalization;

namespace ActOp.Bench.Hosting;

/// <summary>A silo in a process of its own; ends when disposed or when this process ends.</summary>
internal sealed class SiloProcess : IDisposable
{
    /// <summary>The hidden command that makes this program a silo.</summary>
    internal const string Command = "silo";

    private readonly Process _process;

    private SiloProcess(Process process, int port, int gateway)
    {
        _process = process;
        Port = port;
        Gateway = gateway;
    }

    internal int Port { get; }

    internal int Gateway { get; }

    /// <summary>CPU time of the process so far.</summary>
    internal TimeSpan Cpu
    {
        get
        {
            _process.Refresh();
            return _process.TotalProcessorTime;
        }
    }

    internal static SiloProcess Start(int? primary)
    {
        var port = BenchHost.FreePort();
        var gateway = BenchHost.FreePort();
        var start = new ProcessStartInfo(Environment.ProcessPath!) { RedirectStandardInput = true, RedirectStandardOutput = true, UseShellExecute = false };
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath!) == "dotnet")
            start.ArgumentList.Add(typeof(SiloProcess).Assembly.Location);
        start.ArgumentList.Add(Command);
        foreach (var (name, value) in new[] { ("--port", port), ("--gateway", gateway), ("--primary", primary ?? 0) })
        {
            start.ArgumentList.Add(name);
            start.ArgumentList.Add(value.ToString(CultureInfo.InvariantCulture));
        }

        var process = Process.Start(start) ?? throw new InvalidOperationException("The silo process could not be started.");
        if (process.StandardOutput.ReadLine() != "ready")
            throw new InvalidOperationException("The silo process did not start.");
        return new SiloProcess(process, port, gateway);
    }

    /// <summary>The silo process itself: runs until standard input ends.</summary>
    internal static async Task<int> RunAsync(int port, int gateway, int primary)
    {
        await using var host = await BenchHost.StartSilo(port, gateway, primary == 0 ? null : primary, locality: false);
        Console.Out.WriteLine("ready");
        Console.Out.Flush();
        await Task.Factory.StartNew(static () =>
        {
            while (Console.In.Read() >= 0)
            {
            }
        }, TaskCreationOptions.LongRunning);
        return 0;
    }

    public void Dispose()
    {
        _process.StandardInput.Close();
        if (!_process.WaitForExit(5000))
            _process.Kill();
        _process.Dispose();
    }
}
