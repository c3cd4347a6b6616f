using System.Buffers.Text;

namespace ActOp.Runtime.Stages;

/// <summary>
/// How long the threads of the process ran, and how long they were ready to run without a processor, by the statistics of the scheduler
/// (<c>/proc/self/task/*/schedstat</c>). Ready is also who was woken and waits for a processor. About 10 microseconds for each thread.
/// </summary>
/// <remarks>One thread at a time.</remarks>
internal sealed class RunDelay
{
    private const string OwnTasks = "/proc/self/task";
    private const string Statistics = "schedstat";
    private const double NanosecondsPerSecond = 1e9;

    private readonly string _tasks;
    private Dictionary<string, (long Ran, long Waited)> _threads;

    /// <param name="tasks">The directory with one directory for each thread.</param>
    internal RunDelay(string tasks = OwnTasks)
    {
        _tasks = tasks;
        _threads = Read();
    }

    /// <summary>
    /// Seconds that all threads together ran and waited since the last call; null where the system does not say. What a thread did at last
    /// before it ended is missing.
    /// </summary>
    internal (double Ran, double Waited)? Take()
    {
        var (before, now) = (_threads, Read());
        _threads = now;
        if (now.Count == 0)
            return null;
        long ran = 0, waited = 0;
        foreach (var (thread, time) in now)
        {
            // A number that was given to another thread begins anew.
            var last = before.GetValueOrDefault(thread) is var old && old.Ran <= time.Ran && old.Waited <= time.Waited ? old : default;
            ran += time.Ran - last.Ran;
            waited += time.Waited - last.Waited;
        }

        return (ran / NanosecondsPerSecond, waited / NanosecondsPerSecond);
    }

    private Dictionary<string, (long Ran, long Waited)> Read()
    {
        Dictionary<string, (long Ran, long Waited)> threads = [];
        try
        {
            if (!System.IO.Directory.Exists(_tasks))
                return threads;
            foreach (var thread in System.IO.Directory.EnumerateDirectories(_tasks))
            {
                if (TryRead(Path.Combine(thread, Statistics)) is { } time)
                    threads.Add(thread, time);
            }
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            // The system does not say.
        }

        return threads;
    }

    /// <summary>The first two of "ran waited slices"; null when the thread has ended meanwhile.</summary>
    private static (long Ran, long Waited)? TryRead(string path)
    {
        try
        {
            using var handle = File.OpenHandle(path);
            Span<byte> text = stackalloc byte[96];
            text = text[..RandomAccess.Read(handle, text, 0)];
            return Utf8Parser.TryParse(text, out long ran, out var length) && length < text.Length
                && Utf8Parser.TryParse(text[(length + 1)..], out long waited, out _) ? (ran, waited) : null;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}

/// <summary>How many threads of the machine are running or ready, by samples (<c>/proc/loadavg</c>).</summary>
/// <remarks>Sampled by one timer, taken by the control stage.</remarks>
internal sealed class RunnableThreads
{
    private const string Load = "/proc/loadavg";

    /// <summary>The fourth word: "runnable/all".</summary>
    private const int Word = 3;

    private readonly Lock _gate = new();
    private int _samples;
    private long _sum;

    internal void Sample() => Add(Parse(SystemFile.FirstLine(Load)));

    /// <summary>A sample; null when there is none to be had.</summary>
    internal void Add(int? runnable)
    {
        if (runnable is not { } count)
            return;
        lock (_gate)
        {
            _samples++;
            // The thread that samples runs.
            _sum += Math.Max(0, count - 1);
        }
    }

    /// <summary>The mean of the samples since the last call; null without any.</summary>
    internal double? Take()
    {
        lock (_gate)
        {
            double? mean = _samples == 0 ? null : (double)_sum / _samples;
            (_samples, _sum) = (0, 0);
            return mean;
        }
    }

    internal static int? Parse(string line)
    {
        var words = line.Split(' ');
        return words.Length > Word && int.TryParse(words[Word].Split('/')[0], out var count) && count >= 0 ? count : null;
    }
}
