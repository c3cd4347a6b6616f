using System.Collections.Concurrent;
using System.Diagnostics;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Concurrency;
using Orleans.Placement;
using Orleans.Utilities;

namespace ActOp.Bench.Fanout;

/// <summary>What an observer of the experiment hears.</summary>
public interface IReader : IGrainObserver
{
    /// <summary>One message to all; nobody waits.</summary>
    void Hear(string text);
}

/// <summary>Makes the observers of the silo that it is on, and tells when they have heard.</summary>
public interface IReaders : IGrainWithIntegerKey
{
    /// <summary>Makes observers and returns their references.</summary>
    Task<List<IReader>> Make(int count);

    /// <summary>Waits until the observers of the process have heard so many messages, and returns the time stamp of the last.</summary>
    Task<long> WaitForAsync(long messages);
}

/// <summary>Has the observers of all nodes, and tells them.</summary>
public interface IDesk : IGrainWithIntegerKey
{
    /// <summary>Adds observers.</summary>
    Task Subscribe(List<IReader> readers);

    /// <summary>Notifies all, and returns when it has begun and how long the notification has taken, in ticks of the stopwatch.</summary>
    Task<(long Began, long Took)> Tell(string text);
}

/// <summary>The observers of one process.</summary>
internal sealed class Reader : IReader
{
    private static readonly ConcurrentBag<Reader> Kept = [];
    private static long s_heard;
    private static long s_awaited = long.MaxValue;
    private static TaskCompletionSource<long> s_done = new();

    internal static Reader New()
    {
        var reader = new Reader();
        Kept.Add(reader);
        return reader;
    }

    internal static Task<long> WaitForAsync(long messages)
    {
        s_done = new TaskCompletionSource<long>(TaskCreationOptions.RunContinuationsAsynchronously);
        Interlocked.Exchange(ref s_awaited, messages);
        if (Interlocked.Read(ref s_heard) >= messages)
            s_done.TrySetResult(Stopwatch.GetTimestamp());
        return s_done.Task;
    }

    public void Hear(string text)
    {
        if (Interlocked.Increment(ref s_heard) == Volatile.Read(ref s_awaited))
            s_done.TrySetResult(Stopwatch.GetTimestamp());
    }
}

/// <summary>See <see cref="IReaders"/>. It may be asked while a request waits.</summary>
[Reentrant]
internal sealed class ReadersGrain : Grain, IReaders
{
    public Task<List<IReader>> Make(int count)
    {
        var made = new List<IReader>(count);
        for (var index = 0; index < count; index++)
            made.Add(GrainFactory.CreateObjectReference<IReader>(Reader.New()));
        return Task.FromResult(made);
    }

    public Task<long> WaitForAsync(long messages) => Reader.WaitForAsync(messages);
}

/// <summary>See <see cref="IDesk"/>.</summary>
internal sealed class DeskGrain : Grain, IDesk
{
    private readonly ObserverManager<IReader> _readers = new(TimeSpan.FromHours(1), NullLogger.Instance);

    public Task Subscribe(List<IReader> readers)
    {
        foreach (var reader in readers)
            _readers.Subscribe(reader, reader);
        return Task.CompletedTask;
    }

    public Task<(long Began, long Took)> Tell(string text)
    {
        var began = Stopwatch.GetTimestamp();
        _readers.Notify(reader => reader.Hear(text));
        return Task.FromResult((began, Stopwatch.GetTimestamp() - began));
    }
}
