using ActOp.Harness.Processes;

namespace ActOp.Samples.Tests;

/// <summary>A web sample in a process of its own, as its command starts it, on free ports.</summary>
internal sealed class SampleProcess : IAsyncDisposable
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly ChildProcess _process;

    private SampleProcess(ChildProcess process, Uri address)
    {
        _process = process;
        Address = address;
        Http = new HttpClient { BaseAddress = address, Timeout = Limit };
    }

    /// <summary>Where its page is.</summary>
    public Uri Address { get; }

    public HttpClient Http { get; }

    /// <summary>Starts a sample, and returns when it says that it has started.</summary>
    public static async Task<SampleProcess> StartAsync(string name, params string[] arguments)
    {
        var ports = Ports.FindFree(3);
        var address = new Uri("http://localhost:" + ports[0]);
        var started = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        string[] command =
            [.. ChildProcess.CommandOf(AssemblyOf(name)), "--Urls", address.ToString(), "--SiloPort", ports[1].ToString(), "--GatewayPort",
            ports[2].ToString(), .. arguments];
        var process = ChildProcess.StartCommand(name, command, line =>
        {
            if (line.Contains("Application started", StringComparison.Ordinal))
                started.TrySetResult();
            return false;
        });
        var first = await Task.WhenAny(started.Task, process.WaitForExitAsync(CancellationToken.None)).WaitAsync(Limit);
        Assert.True(first == started.Task, name + " ended at its start:\n" + process.Tail);
        return new SampleProcess(process, address);
    }

    /// <summary>Ends the process without a chance to write anything.</summary>
    public async Task KillAsync()
    {
        _process.Kill();
        await _process.WaitForExitAsync(CancellationToken.None).WaitAsync(Limit);
    }

    /// <summary>A web program does not read its standard input: asked to stop through that, it would be waited for in vain.</summary>
    public async ValueTask DisposeAsync()
    {
        Http.Dispose();
        await KillAsync();
        await _process.DisposeAsync();
    }

    /// <summary>Its output is beside that of the tests: the same configuration of the same repository.</summary>
    private static string AssemblyOf(string name)
    {
        var output = new DirectoryInfo(AppContext.BaseDirectory);
        var root = output.Parent!.Parent!.Parent!.Parent!.Parent!;
        return Path.Combine(root.FullName, "samples", name, "bin", output.Parent!.Name, output.Name, name + ".dll");
    }
}
