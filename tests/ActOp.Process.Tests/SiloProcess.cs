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
    public static SiloProcess Start(int port, int gateway, int primary)
    {
        var start = new ProcessStartInfo("dotnet")
        {
            ArgumentList = { Path.Combine(AppContext.BaseDirectory, "ActOp.Process.Silo.dll"), port.ToString(), gateway.ToString(), primary.ToString() },
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        var silo = new SiloProcess(new System.Diagnostics.Process { StartInfo = start }, port, gateway);
        silo._process.OutputDataReceived += (_, line) => silo.Hear(line.Data);
        silo._process.ErrorDataReceived += (_, line) => silo.Hear(line.Data);
        silo._process.Start();
        silo._process.BeginOutputReadLine();
        silo._process.BeginErrorReadLine();
        return silo;
    }

    public Task Ready() => Says("READY");

    /// <summary>Completes when the silo's view has lost the silo at a port.</summary>
    public Task Drops(SiloProcess other) => Says($"left S127.0.0.1:{other.Port}:");

    /// <summary>Completes when the silo's view has this many active silos.</summary>
    public Task Sees(int active) => Says($": {active} active silos");

    public Task Says(string text) => SaysLater(text).WaitAsync(Limits.Step);

    /// <summary>SIGKILL.</summary>
    public void Kill() => _process.Kill();

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
