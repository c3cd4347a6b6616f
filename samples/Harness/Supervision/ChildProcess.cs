using System.Diagnostics;
using System.Reflection;

namespace Harness.Supervision;

/// <summary>One child process of this program: its lines go to a handler, the tail of what it says is kept for error messages.</summary>
public sealed class ChildProcess : IAsyncDisposable
{
    private const int TailLines = 30;
    private static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(10);
    private readonly Process _process;
    private readonly Queue<string> _tail = [];

    private ChildProcess(string name, Process process)
    {
        Name = name;
        _process = process;
    }

    /// <summary>What the child is called in messages.</summary>
    public string Name { get; }

    /// <summary>Whether the process has ended.</summary>
    public bool HasExited => _process.HasExited;

    /// <summary>The process id.</summary>
    public int Id => _process.Id;

    /// <summary>The last lines that were no samples, for error messages.</summary>
    public string Tail
    {
        get
        {
            lock (_tail)
                return string.Join(Environment.NewLine, _tail);
        }
    }

    /// <summary>
    /// Starts this program again with other arguments. <paramref name="take"/> returns false for a line it does not understand. The thread
    /// pool of a <paramref name="patient"/> child does not spin for work: a load generator that spins takes the cores from the silos that
    /// it measures.
    /// </summary>
    public static ChildProcess Start(string name, IEnumerable<string> arguments, Func<string, bool> take, bool patient = false)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        // What runs once a second would else be compiled for good after a minute, in the midst of the measurement.
        start.Environment["DOTNET_TC_CallCountThreshold"] = "8";
        if (patient)
            start.Environment["DOTNET_ThreadPool_UnfairSemaphoreSpinLimit"] = "0";
        // Under "dotnet Sample.dll" the process is dotnet itself and needs to be told the program.
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath!).Equals("dotnet", StringComparison.OrdinalIgnoreCase))
            start.ArgumentList.Add(Assembly.GetEntryAssembly()!.Location);
        foreach (string argument in arguments)
            start.ArgumentList.Add(argument);
        var child = new ChildProcess(name, new Process { StartInfo = start });
        child._process.OutputDataReceived += (_, line) => child.Handle(line.Data, take);
        child._process.ErrorDataReceived += (_, line) => child.Handle(line.Data, _ => false);
        child._process.Start();
        child._process.BeginOutputReadLine();
        child._process.BeginErrorReadLine();
        return child;
    }

    /// <summary>Completes when the process has ended and all its lines are handled, with its exit code.</summary>
    public async Task<int> WaitForExitAsync(CancellationToken cancellation)
    {
        await _process.WaitForExitAsync(cancellation).ConfigureAwait(false);
        return _process.ExitCode;
    }

    /// <summary>
    /// Ends the process without a chance to say anything (SIGKILL); returns when it is over and heard. <paramref name="killed"/> is called
    /// at once when the kernel has taken the signal: from then on no thread of the process gets back to its code.
    /// </summary>
    public async Task KillAsync(Action killed)
    {
        _process.Kill(entireProcessTree: false);
        killed();
        await _process.WaitForExitAsync().ConfigureAwait(false);
    }

    /// <summary>Has the process stand still (SIGSTOP) until <see cref="ContinueAsync"/>.</summary>
    public Task PauseAsync() => SignalAsync("STOP");

    /// <summary>Lets a process go on that stands still (SIGCONT).</summary>
    public Task ContinueAsync() => SignalAsync("CONT");

    /// <summary>Closes the child's standard input, which asks it to stop; kills it if it has not stopped in 10 s.</summary>
    public async ValueTask DisposeAsync()
    {
        try
        {
            _process.StandardInput.Close();
        }
        catch (IOException)
        {
            // The child is gone already.
        }
        using var limit = new CancellationTokenSource(StopLimit);
        try
        {
            await _process.WaitForExitAsync(limit.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            _process.Kill(entireProcessTree: false);
            await _process.WaitForExitAsync().ConfigureAwait(false);
        }
        _process.Dispose();
    }

    private async Task SignalAsync(string signal)
    {
        using Process shell = Process.Start(new ProcessStartInfo("sh", ["-c", $"kill -{signal} {_process.Id}"]))!;
        await shell.WaitForExitAsync().ConfigureAwait(false);
        if (shell.ExitCode != 0)
            throw new InvalidOperationException($"{Name} could not be sent the signal {signal}.");
    }

    private void Handle(string? line, Func<string, bool> take)
    {
        if (string.IsNullOrWhiteSpace(line) || take(line))
            return;
        lock (_tail)
        {
            if (_tail.Count == TailLines)
                _tail.Dequeue();
            _tail.Enqueue(line);
        }
    }
}
