using System.Buffers.Text;

namespace ActOp.Staging.Measuring;

/// <summary>What some threads did in a period, in seconds.</summary>
/// <param name="Ran">Time that they ran.</param>
/// <param name="Waited">Time that they were ready without a processor.</param>
/// <param name="Active">How many of them ran at all.</param>
internal readonly record struct RunTimes(double Ran, double Waited, int Active);

/// <summary>
/// How long threads of the process ran, and how long they were ready without a processor, by the statistics of the scheduler
/// (<c>/proc/self/task/*/schedstat</c>). Ready time includes the wait after a wake-up. A sample costs about 10 microseconds per thread.
/// </summary>
/// <remarks>One thread at a time.</remarks>
internal sealed class RunDelay
{
    private const string OwnTasks = "/proc/self/task";
    private const string Statistics = "schedstat";
    private const string NameOf = "comm";
    private const double NanosecondsPerSecond = 1e9;

    private readonly string _tasks;
    private readonly string? _name;
    private Dictionary<string, ThreadTime> _threads = [];

    /// <param name="tasks">The directory with one directory for each thread.</param>
    /// <param name="name">The name of the threads that count, of at most 15 characters; null: all.</param>
    internal RunDelay(string tasks = OwnTasks, string? name = null)
    {
        _tasks = tasks;
        _name = name;
        _threads = Read();
    }

    /// <summary>
    /// What the threads together did since the last call; null if the system does not provide it. The last period of ended threads is
    /// missing.
    /// </summary>
    internal RunTimes? TakeTimes()
    {
        var (before, now) = (_threads, Read());
        _threads = now;
        if (now.Count == 0)
            return null;
        long ran = 0, waited = 0;
        var active = 0;
        foreach (var (thread, time) in now)
        {
            // A reused thread id starts again from zero.
            var last = before.GetValueOrDefault(thread) is var old && old.Ran <= time.Ran && old.Waited <= time.Waited ? old : default;
            if (!time.Counts)
                continue;
            ran += time.Ran - last.Ran;
            waited += time.Waited - last.Waited;
            active += time.Ran > last.Ran ? 1 : 0;
        }

        return new RunTimes(ran / NanosecondsPerSecond, waited / NanosecondsPerSecond, active);
    }

    private Dictionary<string, ThreadTime> Read()
    {
        Dictionary<string, ThreadTime> threads = [];
        try
        {
            if (!Directory.Exists(_tasks))
                return threads;
            foreach (var thread in Directory.EnumerateDirectories(_tasks))
            {
                if (TryRead(thread) is { } time)
                    threads.Add(thread, time);
            }
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            // Not provided by this system.
        }

        return threads;
    }

    /// <summary>The first two of "ran waited slices"; null when the thread has ended meanwhile.</summary>
    private ThreadTime? TryRead(string thread)
    {
        try
        {
            using var handle = File.OpenHandle(Path.Combine(thread, Statistics));
            Span<byte> text = stackalloc byte[96];
            text = text[..RandomAccess.Read(handle, text, 0)];
            return Utf8Parser.TryParse(text, out long ran, out var length) && length < text.Length
                && Utf8Parser.TryParse(text[(length + 1)..], out long waited, out _) ? new(ran, waited, Counts(thread, ran)) : null;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>A thread is named when it starts: later its name is not read again.</summary>
    private bool Counts(string thread, long ran) =>
        _name is null || (_threads.TryGetValue(thread, out var known) && known.Counts && known.Ran <= ran)
            || SystemFile.FirstLine(Path.Combine(thread, NameOf)) == _name;

    private readonly record struct ThreadTime(long Ran, long Waited, bool Counts);
}
