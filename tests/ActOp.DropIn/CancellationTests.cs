namespace DropIn;

public interface ICancelled : IGrainWithStringKey
{
    Task Wait(string journal, string name, CancellationToken token);

    Task WaitThrough(ICancelled other, string journal, CancellationToken token);

    Task Ignore(string journal, string gate, CancellationToken token);

    Task<bool> CanBeCancelled(CancellationToken token = default);

    Task WaitFor(string journal, GrainCancellationToken token);

    IAsyncEnumerable<int> Count(string journal, CancellationToken token = default);
}

public sealed class CancelledGrain : Grain, ICancelled
{
    public async Task Wait(string journal, string name, CancellationToken token)
    {
        var cancelled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var registration = token.Register(cancelled.SetResult);
        Journal.Of(journal).Add("begin " + name);
        await cancelled.Task;
        Journal.Of(journal).Add("cancelled " + name);
        token.ThrowIfCancellationRequested();
    }

    public Task WaitThrough(ICancelled other, string journal, CancellationToken token) => other.Wait(journal, "inner", token);

    public async Task Ignore(string journal, string gate, CancellationToken token)
    {
        await using var registration = token.Register(() => Journal.Of(journal).Add("told"));
        await Gate.PassAsync(gate);
        Journal.Of(journal).Add("ignored " + token.IsCancellationRequested);
    }

    public Task<bool> CanBeCancelled(CancellationToken token) => Task.FromResult(token.CanBeCanceled);

    public async Task WaitFor(string journal, GrainCancellationToken token)
    {
        var cancelled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var registration = token.CancellationToken.Register(cancelled.SetResult);
        Journal.Of(journal).Add("begin");
        await cancelled.Task;
        Journal.Of(journal).Add("cancelled");
    }

    public async IAsyncEnumerable<int> Count(
        string journal, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken token)
    {
        yield return 1;
        await Wait(journal, "count", token);
    }
}

/// <summary>How the end of interest of a caller reaches the grain.</summary>
public class CancellationTests(CommonCluster cluster)
{
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private string Name => _made.Name;

    [Fact]
    public async Task A_token_reaches_the_grain_and_the_caller_gets_its_cancellation()
    {
        using var source = new CancellationTokenSource();
        var call = cluster.Client.GetGrain<ICancelled>(Name).Wait(Name, "call", source.Token);
        await _made.Journal.HasAsync("begin call");
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        await _made.Journal.HasAsync("cancelled call");
        Assert.True(call.IsCanceled);
    }

    [Fact]
    public async Task A_token_that_is_passed_on_reaches_the_last_grain()
    {
        using var source = new CancellationTokenSource();
        var call = cluster.Client.GetGrain<ICancelled>(Name).WaitThrough(
            cluster.Client.GetGrain<ICancelled>(Name + " inner"), Name, source.Token);
        await _made.Journal.HasAsync("begin inner");
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        await _made.Journal.HasAsync("cancelled inner");
    }

    [Fact]
    public async Task A_call_with_a_cancelled_token_is_not_sent()
    {
        using var source = new CancellationTokenSource();
        await source.CancelAsync();
        var grain = cluster.Client.GetGrain<ICancelled>(Name);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => grain.Wait(Name, "call", source.Token));
        Assert.Equal(Stated.DefaultTokenCanBeCancelled, await grain.CanBeCancelled());
        Assert.Empty(_made.Journal.Lines);
    }

    [Fact]
    public async Task The_caller_does_not_wait_for_a_grain_that_ignores_its_token()
    {
        using var gate = new Gate();
        using var source = new CancellationTokenSource();
        var call = cluster.Client.GetGrain<ICancelled>(Name).Ignore(Name, gate.Name, source.Token);
        await gate.ArrivedAsync();
        await source.CancelAsync();
        var exception = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call);
        Assert.Equal(source.Token, exception.CancellationToken);
        await _made.Journal.HasAsync("told");
        gate.Open();
        await _made.Journal.HasAsync("ignored True");
    }

    [Fact]
    public async Task A_call_that_waits_for_its_turn_can_be_cancelled()
    {
        using var gate = new Gate();
        using var source = new CancellationTokenSource();
        var grain = cluster.Client.GetGrain<ICancelled>(Name);
        var first = grain.Ignore(Name, gate.Name, CancellationToken.None);
        await gate.ArrivedAsync();
        var second = grain.Wait(Name, "second", source.Token);
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => second);
        Assert.False(first.IsCompleted);
        gate.Open();
        await first;
        // In Orleans it may run with a cancelled token: it does not hold up others.
        await grain.CanBeCancelled();
    }

    [Fact]
    public async Task A_token_of_Orleans_reaches_the_grain()
    {
        using var source = new GrainCancellationTokenSource();
        var call = cluster.Client.GetGrain<ICancelled>(Name).WaitFor(Name, source.Token);
        await _made.Journal.HasAsync("begin");
        await source.Cancel();
        await call;
        Assert.True(source.IsCancellationRequested);
        Assert.Equal(["begin", "cancelled"], _made.Journal.Lines);
    }

    [Fact]
    public async Task An_enumeration_can_be_cancelled()
    {
        using var source = new CancellationTokenSource();
        List<int> numbers = [];
        var reading = Task.Run(async () =>
        {
            await foreach (var number in cluster.Client.GetGrain<ICancelled>(Name).Count(Name).WithCancellation(source.Token))
            {
                numbers.Add(number);
                _made.Journal.Add("got " + number);
            }
        });
        await _made.Journal.HasAsync("got 1");
        await _made.Journal.HasAsync("begin count");
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading);
        await _made.Journal.HasAsync("cancelled count");
        Assert.Equal([1], numbers);
    }
}
