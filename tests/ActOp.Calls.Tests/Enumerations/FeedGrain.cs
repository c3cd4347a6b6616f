using System.Runtime.CompilerServices;
using System.Threading.Channels;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Enumerations;

/// <summary>A grain whose items are enumerated. It sees its own incoming calls.</summary>
public interface IFeed : IGrainWithGuidKey
{
    ValueTask Publish(string item);

    ValueTask Complete();

    ValueTask Fail(string message);

    ValueTask End();

    ValueTask<SiloAddress> Seat();

    ValueTask<List<string>> IncomingCalls();

    IAsyncEnumerable<string> Items(CancellationToken cancellationToken = default);

    IAsyncEnumerable<int> Numbers(int count);

    /// <summary>Each item takes what <see cref="FeedGrain.MakeItem"/> takes.</summary>
    IAsyncEnumerable<int> NumbersInTime(int count);

    IAsyncEnumerable<int> NumbersThenFailure(int count);

    /// <summary>Waits for ever; gates say when it begins and when its end runs.</summary>
    IAsyncEnumerable<int> Silence(string begun, string ended, CancellationToken cancellationToken = default);

    /// <summary>One item, then more as soon as the gate is open, whatever the token says.</summary>
    IAsyncEnumerable<int> Stubborn(string gate);

    IAsyncEnumerable<T> Repeat<T>(T item, int count);

    ValueTask<int> SumOf(IFeed other, int count);
}

public sealed class FeedException(string message) : Exception(message);

public sealed class FeedGrain : Grain, IFeed, IIncomingGrainCallFilter
{
    private readonly Channel<string> _items = Channel.CreateUnbounded<string>();
    private readonly List<string> _calls = [];

    /// <summary>Runs before each item of <see cref="NumbersInTime"/>.</summary>
    public static Action? MakeItem { get; set; }

    public async IAsyncEnumerable<int> NumbersInTime(int count)
    {
        await Task.CompletedTask;
        for (var number = 0; number < count; number++)
        {
            MakeItem?.Invoke();
            yield return number;
        }
    }

    public async Task Invoke(IIncomingGrainCallContext context)
    {
        _calls.Add(context.InterfaceName + "." + context.MethodName);
        await context.Invoke();
    }

    public ValueTask<SiloAddress> Seat() => new(((IGrainBase)this).GrainContext.Address.SiloAddress!);

    public ValueTask<List<string>> IncomingCalls() => new(_calls);

    public ValueTask Publish(string item) => _items.Writer.WriteAsync(item);

    public ValueTask Complete()
    {
        _items.Writer.Complete();
        return default;
    }

    public ValueTask Fail(string message)
    {
        _items.Writer.Complete(new FeedException(message));
        return default;
    }

    public ValueTask End()
    {
        DeactivateOnIdle();
        return default;
    }

    public async IAsyncEnumerable<string> Items([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (var item in _items.Reader.ReadAllAsync(cancellationToken))
            yield return item;
    }

    public async IAsyncEnumerable<int> Numbers(int count)
    {
        for (var number = 0; number < count; number++)
        {
            if (number % 1000 == 999)
                await Task.Yield();
            yield return number;
        }
    }

    public async IAsyncEnumerable<int> NumbersThenFailure(int count)
    {
        for (var number = 0; number < count; number++)
            yield return number;
        await Task.CompletedTask;
        throw new FeedException("after " + count);
    }

    public async IAsyncEnumerable<int> Silence(string begun, string ended, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        Gate.Touch(begun);
        try
        {
            await new TaskCompletionSource().Task.WaitAsync(cancellationToken);
            yield return 0;
        }
        finally
        {
            Gate.Touch(ended);
        }
    }

    public async IAsyncEnumerable<int> Stubborn(string gate)
    {
        yield return 1;
        await Gate.PassAsync(gate);
        yield return 2;
    }

    public async IAsyncEnumerable<T> Repeat<T>(T item, int count)
    {
        await Task.CompletedTask;
        for (var number = 0; number < count; number++)
            yield return item;
    }

    public async ValueTask<int> SumOf(IFeed other, int count)
    {
        var sum = 0;
        await foreach (var number in other.Numbers(count))
            sum += number;
        return sum;
    }
}
