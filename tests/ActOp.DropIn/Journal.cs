using System.Collections.Concurrent;

namespace DropIn;

/// <summary>
/// What code of the application has done, as lines under a name that a test has chosen. Silos, clients and tests share the process.
/// </summary>
public sealed class Journal
{
    private static readonly ConcurrentDictionary<string, Journal> All = new();

    private readonly Lock _gate = new();
    private readonly List<string> _lines = [];
    private readonly List<(Func<List<string>, bool> Holds, TaskCompletionSource Reached)> _waiting = [];

    public static Journal Of(string name) => All.GetOrAdd(name, static _ => new Journal());

    /// <summary>A journal that nobody else has.</summary>
    public static (Journal Journal, string Name) Create()
    {
        var name = Guid.NewGuid().ToString("N");
        return (Of(name), name);
    }

    public string[] Lines
    {
        get
        {
            lock (_gate)
                return [.. _lines];
        }
    }

    public void Add(string line)
    {
        lock (_gate)
        {
            _lines.Add(line);
            foreach (var waiting in _waiting.FindAll(waiting => waiting.Holds(_lines)))
                waiting.Reached.TrySetResult();
            _waiting.RemoveAll(static waiting => waiting.Reached.Task.IsCompleted);
        }
    }

    /// <summary>Waits until a line has come.</summary>
    public Task HasAsync(string line) => UntilAsync(lines => lines.Contains(line), line);

    /// <summary>Waits until there are so many lines.</summary>
    public Task CountAsync(int count) => UntilAsync(lines => lines.Count >= count, count + " lines");

    private async Task UntilAsync(Func<List<string>, bool> holds, string what)
    {
        var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
        {
            if (holds(_lines))
                return;
            _waiting.Add((holds, reached));
        }

        try
        {
            await reached.Task.WaitAsync(Gate.Patience);
        }
        catch (TimeoutException)
        {
            Assert.Fail($"{what} did not come; there is: {string.Join(", ", Lines)}");
        }
    }
}
