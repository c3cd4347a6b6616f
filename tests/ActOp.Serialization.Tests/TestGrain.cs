[assembly: Orleans.GenerateCodeForDeclaringAssembly(typeof(Orleans.Runtime.IAddressable))]

namespace ActOp.Serialization.Tests;

/// <summary>Implements all test interfaces and records what it was asked.</summary>
internal sealed class TestGrain : IDerivedGrain, IObserver, IListGrain<string>
{
    public List<string> Log { get; } = [];

    public Task<int> Add(int amount, string? @event)
    {
        Log.Add("Add " + amount + " " + (@event ?? "null"));
        return Task.FromResult(amount + 1);
    }

    public ValueTask<long> Read() => new(42L);

    public ValueTask Reset(Guid id) => throw new InvalidOperationException("no " + id.ToString("N")[..2]);

    public Task Notify(string text)
    {
        Log.Add(text);
        return Task.CompletedTask;
    }

    public Task<string?> Describe(int a, long b, double c, bool d, byte e, string? f) =>
        Task.FromResult<string?>(FormattableString.Invariant($"{a} {b} {c} {d} {e} {f ?? "null"}"));

    public Task<T> Echo<T>(T value)
        where T : notnull => Task.FromResult(value);

    public Task<int> Plain(int value) => Task.FromResult(-value);

    public Task More() => Task.CompletedTask;

    public void Seen(int number) => Log.Add("Seen " + number);

    public Task Append(string item)
    {
        Log.Add(item);
        return Task.CompletedTask;
    }

    public ValueTask<(string First, int Count)> Look<TKey>(TKey key, string item)
        where TKey : struct => new((item, key.ToString()!.Length));
}
