using Orleans.Concurrency;

namespace ActOp.Serialization.Tests;

public interface ICounterGrain : IGrainWithIntegerKey
{
    Task<int> Add(int amount, string? @event);

    ValueTask<long> Read();

    ValueTask Reset(Guid id);

    [OneWay]
    Task Notify(string text);

    [ReadOnly]
    [AlwaysInterleave]
    [ResponseTimeout("00:00:05")]
    Task<string?> Describe(int a, long b, double c, bool d, byte e, string? f);

    Task<T> Echo<T>(T value)
        where T : notnull;

    Task Twice() => Task.CompletedTask;
}

public interface IObserver : IGrainObserver
{
    void Seen(int number);
}

internal interface IListGrain<TItem> : IGrainWithStringKey
    where TItem : notnull
{
    Task Append(TItem item);

    ValueTask<(TItem First, int Count)> Look<TKey>(TKey key, TItem item)
        where TKey : struct;
}

public interface IPlain
{
    Task<int> Plain(int value);
}

public interface IDerivedGrain : ICounterGrain, IPlain
{
    [Alias("renamed")]
    Task More();
}

public static class Outer
{
    public interface INested : IGrainWithGuidKey
    {
        Task<int> Add(int a, (int X, string Y) pair);
    }
}

[Alias("special")]
public interface IAliased : IGrainWithGuidKey
{
    Task Do();

    Task Do(int a);
}
