using System.Diagnostics;

namespace ActOp.Process.Tests;

/// <summary>A silo in a process of its own.</summary>
internal sealed class SiloProcess : IAsyncDisposable
{
    private readonly System.Diagnostics.Process _process;
    private readonly List<string> _lines = [];
    private TaskCompletionSource _said = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private SiloProcess(System.Diagnostics.Process process, int port, int gateway)
    {
        _process = process;
        Port = port;
        Gateway = gateway;
    }

    public int Port { get; }

    public int Gateway { get; }

    /// <summary>Everything that the process has said.</summary>
    public string Output
    {
        get
        {
            lock (_lines)
                return string.Join(Environment.NewLine, _lines);
        }
    }

    /// <summary>Starts a process; it is no member of the cluster before <see cref="Ready"/>.</summary>
    /// <param name="port">Silo port.</param>
    /// <param name="gateway">Port for clients.</param>
    /// <param name="primary">Silo port of the silo that holds the membership table.</param>
    /// <param name="descriptors">The most files and sockets that the process may have open; null for the system's limit.</param>
    public static SiloProcess Start(int port, int gateway, int primary, int? descriptors = null)
    {
        string[] silo = ["dotnet", Path.Combine(AppContext.BaseDirectory, "ActOp.Process.Silo.dll"), port.ToString(), gateway.ToString(), primary.ToString()];
        // The shell becomes the silo: its process id and its pipes stay the same.
        string[] command = descriptors is { } limit ? ["sh", "-c", "ulimit -n \"$0\" && exec \"$@\"", limit.ToString(), .. silo] : silo;
        var start = new ProcessStartInfo(command[0], command[1..])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        var started = new SiloProcess(new System.Diagnostics.Process { StartInfo = start }, port, gateway);
        started._process.OutputDataReceived += (_, line) => started.Hear(line.Data);
        started._process.ErrorDataReceived += (_, line) => started.Hear(line.Data);
        started._process.Start();
        started._process.BeginOutputReadLine();
        started._process.BeginErrorReadLine();
        return started;
    }

    public Task Ready() => Says("READY");

    /// <summary>Completes when the silo's view has lost the silo at a port.</summary>
    public Task Drops(SiloProcess other) => Says($"left S127.0.0.1:{other.Port}:");

    /// <summary>Completes when the silo's view has this many active silos.</summary>
    public Task Sees(int active) => Says($": {active} active silos");

    public Task Says(string text) => SaysLater(text).WaitAsync(Limits.Step);

    /// <summary>SIGKILL.</summary>
    public void Kill() => _process.Kill();

    /// <summary>SIGKILL; completes when the process is over.</summary>
    public async Task KillAsync()
    {
        Kill();
        await _process.WaitForExitAsync().WaitAsync(Limits.Step);
    }

    /// <summary>Asks the silo to stop; completes when its process is over.</summary>
    public async Task StopAsync()
    {
        _process.StandardInput.Close();
        await _process.WaitForExitAsync().WaitAsync(Limits.Step);
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
            _process.Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
    }

    private async Task SaysLater(string text)
    {
        while (true)
        {
            Task next;
            lock (_lines)
            {
                if (_lines.Exists(line => line.Contains(text, StringComparison.Ordinal)))
                    return;
                next = _said.Task;
            }

            await next;
        }
    }

    private void Hear(string? line)
    {
        if (line is null)
            return;
        TaskCompletionSource said;
        lock (_lines)
        {
            _lines.Add(line);
            said = _said;
            _said = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        said.TrySetResult();
    }
}
