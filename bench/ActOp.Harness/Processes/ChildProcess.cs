using System.Diagnostics;
using System.Globalization;
using System.Reflection;

namespace ActOp.Harness.Processes;

/// <summary>
/// A child process that ends with its parent: its standard input stays open for as long as the parent wants it, see
/// <see cref="ParentWatch"/>. Its lines go to a handler, the tail of what it says is kept for error messages. Any thread; the handler runs
/// on threads of the pool.
/// </summary>
public sealed class ChildProcess : IAsyncDisposable
{
    /// <summary>How .NET names it; the system keeps 15 letters.</summary>
    private const string Compiler = ".NET Tiered Com";

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

    /// <summary>With what the process has ended.</summary>
    public int ExitCode => _process.ExitCode;

    /// <summary>The process id.</summary>
    public int Id => _process.Id;

    /// <summary>The command that runs this program again.</summary>
    public static IEnumerable<string> ThisProgram =>
        // Under "dotnet Sample.dll" the process is dotnet itself and needs to be told the program.
        IsDotnet(Environment.ProcessPath!) ? [Environment.ProcessPath!, Assembly.GetEntryAssembly()!.Location] : [Environment.ProcessPath!];

    /// <summary>The last lines that were no samples, for error messages.</summary>
    public string Tail
    {
        get
        {
            lock (_tail)
                return string.Join(Environment.NewLine, _tail);
        }
    }

    /// <summary>Processor time of the process so far.</summary>
    public TimeSpan Cpu
    {
        get
        {
            _process.Refresh();
            return _process.TotalProcessorTime;
        }
    }

    /// <summary>
    /// Processor time of the thread that compiles methods again while the process runs; 0 where the system does not tell (not Linux).
    /// </summary>
    public TimeSpan CompilationCpu
    {
        get
        {
            var folder = "/proc/" + _process.Id.ToString(CultureInfo.InvariantCulture) + "/task";
            if (!Directory.Exists(folder))
                return TimeSpan.Zero;
            var time = TimeSpan.Zero;
            foreach (var thread in Directory.EnumerateDirectories(folder))
            {
                try
                {
                    if (File.ReadAllText(thread + "/comm").StartsWith(Compiler, StringComparison.Ordinal))
                        time += NanosecondsOf(File.ReadAllText(thread + "/schedstat"));
                }
                catch (IOException)
                {
                    // The thread has ended.
                }
            }

            return time;
        }
    }

    /// <summary>The first number of what Linux says of a thread's scheduling: its time on a processor.</summary>
    private static TimeSpan NanosecondsOf(string schedule) =>
        TimeSpan.FromMicroseconds(long.Parse(schedule.Split(' ')[0], CultureInfo.InvariantCulture) / 1000.0);

    /// <summary>
    /// Starts this program again with other arguments. <paramref name="take"/> returns false for a line it does not understand. The thread
    /// pool of a <paramref name="patient"/> child does not spin for work: a load generator that spins takes the cores from the silos that
    /// it measures.
    /// </summary>
    public static ChildProcess Start(string name, IEnumerable<string> arguments, Func<string, bool> take, bool patient = false)
    {
        var start = Redirected([.. ThisProgram, .. arguments]);
        // What runs once a second would else be compiled for good after a minute, in the midst of the measurement.
        start.Environment["DOTNET_TC_CallCountThreshold"] = "8";
        if (patient)
            start.Environment["DOTNET_ThreadPool_UnfairSemaphoreSpinLimit"] = "0";
        return Start(name, start, take);
    }

    /// <summary>Starts a command: a program and its arguments. It works in <paramref name="folder"/>, or where this program does.</summary>
    public static ChildProcess StartCommand(string name, IEnumerable<string> command, Func<string, bool> take, string? folder = null)
    {
        var start = Redirected([.. command]);
        start.WorkingDirectory = folder ?? "";
        return Start(name, start, take);
    }

    /// <summary>The command that runs the program of an assembly.</summary>
    public static IEnumerable<string> CommandOf(string assembly) =>
        [IsDotnet(Environment.ProcessPath!) ? Environment.ProcessPath! : "dotnet", assembly];

    /// <summary>Completes when the process has ended and all its lines are handled, with its exit code.</summary>
    public async Task<int> WaitForExitAsync(CancellationToken cancellation)
    {
        await _process.WaitForExitAsync(cancellation).ConfigureAwait(false);
        return _process.ExitCode;
    }

    /// <summary>Ends the process without a chance to say anything (SIGKILL); returns at once.</summary>
    public void Kill() => _process.Kill(entireProcessTree: false);

    /// <summary>
    /// Ends the process without a chance to say anything (SIGKILL); returns when it is over and heard. <paramref name="killed"/> is called
    /// at once when the kernel has taken the signal: from then on no thread of the process gets back to its code.
    /// </summary>
    public async Task KillAsync(Action killed)
    {
        Kill();
        killed();
        await _process.WaitForExitAsync().ConfigureAwait(false);
    }

    /// <summary>Has the process stand still (SIGSTOP) until <see cref="ContinueAsync"/>.</summary>
    public Task PauseAsync() => SignalAsync("STOP");

    /// <summary>Lets a process go on that stands still (SIGCONT).</summary>
    public Task ContinueAsync() => SignalAsync("CONT");

    /// <summary>Writes a line to the child's standard input.</summary>
    public void Say(string line)
    {
        _process.StandardInput.WriteLine(line);
        _process.StandardInput.Flush();
    }

    /// <summary>Asks the child to stop by closing its standard input; completes when it is over.</summary>
    public async Task StopAsync(CancellationToken cancellation)
    {
        try
        {
            _process.StandardInput.Close();
        }
        catch (IOException)
        {
            // The child is gone already.
        }
        await _process.WaitForExitAsync(cancellation).ConfigureAwait(false);
    }

    /// <summary>Asks the child to stop; kills it if it has not stopped in 10 s.</summary>
    public async ValueTask DisposeAsync()
    {
        using var limit = new CancellationTokenSource(StopLimit);
        try
        {
            await StopAsync(limit.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            Kill();
            await _process.WaitForExitAsync().ConfigureAwait(false);
        }
        _process.Dispose();
    }

    private static bool IsDotnet(string path) =>
        Path.GetFileNameWithoutExtension(path).Equals("dotnet", StringComparison.OrdinalIgnoreCase);

    private static ProcessStartInfo Redirected(string[] command) => new(command[0], command[1..])
    {
        RedirectStandardInput = true,
        RedirectStandardOutput = true,
        RedirectStandardError = true,
        UseShellExecute = false,
    };

    private static ChildProcess Start(string name, ProcessStartInfo start, Func<string, bool> take)
    {
        var child = new ChildProcess(name, new Process { StartInfo = start });
        child._process.OutputDataReceived += (_, line) => child.Handle(line.Data, take);
        child._process.ErrorDataReceived += (_, line) => child.Handle(line.Data, _ => false);
        child._process.Start();
        child._process.BeginOutputReadLine();
        child._process.BeginErrorReadLine();
        return child;
    }

    private async Task SignalAsync(string signal)
    {
        using var shell = Process.Start(new ProcessStartInfo("sh", ["-c", $"kill -{signal} {_process.Id}"]))!;
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

/// <summary>All that a child process says on standard output, to be waited for. Any thread.</summary>
public sealed class Transcript
{
    private readonly List<string> _lines = [];
    private TaskCompletionSource _said = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Everything so far.</summary>
    public string Text
    {
        get
        {
            lock (_lines)
                return string.Join(Environment.NewLine, _lines);
        }
    }

    /// <summary>Adds a line; the handler of a <see cref="ChildProcess"/>.</summary>
    public bool Take(string line)
    {
        TaskCompletionSource said;
        lock (_lines)
        {
            _lines.Add(line);
            said = _said;
            _said = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        }
        said.TrySetResult();
        return true;
    }

    /// <summary>The first line, said already or later, that <paramref name="matches"/>.</summary>
    public async Task<string> WaitForAsync(Func<string, bool> matches)
    {
        while (true)
        {
            Task next;
            lock (_lines)
            {
                if (_lines.Find(line => matches(line)) is { } line)
                    return line;
                next = _said.Task;
            }
            await next.ConfigureAwait(false);
        }
    }
}
