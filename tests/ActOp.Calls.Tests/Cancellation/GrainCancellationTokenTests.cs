using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Cancellation;

public sealed class GrainCancellationTokenTests(TwoSilos cluster) : IClassFixture<TwoSilos>, IDisposable
{
    private readonly Gate _started = new();

    public void Dispose() => _started.Dispose();

    [Theory]
    [InlineData(-1, 0)]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    public async Task A_running_method_hears_of_the_cancellation_on_its_turns(int caller, int callee)
    {
        using var source = new GrainCancellationTokenSource();
        var grain = NewGrain(caller);
        await Place.On(cluster.AddressOf(callee), grain.Seat);
        var call = grain.Wait(_started.Name, source.Token);
        await _started.ArrivedAsync();
        Assert.False(source.IsCancellationRequested);
        await source.Cancel().WaitAsync(Gate.Patience);
        Assert.True(source.IsCancellationRequested);
        Assert.True(await call.WaitAsync(Gate.Patience));
        await source.Cancel();
    }

    [Fact]
    public async Task A_token_is_passed_on_to_a_grain_of_another_silo()
    {
        using var source = new GrainCancellationTokenSource();
        var (one, other) = (NewGrain(-1), NewGrain(-1));
        await Place.On(cluster.AddressOf(0), one.Seat);
        await Place.On(cluster.AddressOf(1), other.Seat);
        var call = one.PassOn(other, _started.Name, source.Token);
        await _started.ArrivedAsync();
        await source.Cancel().WaitAsync(Gate.Patience);
        Assert.True(await call.WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task A_cancelled_token_arrives_cancelled()
    {
        using var source = new GrainCancellationTokenSource();
        await source.Cancel();
        Assert.True(await NewGrain(-1).IsCancelled(source.Token));
        using var other = new GrainCancellationTokenSource();
        Assert.False(await NewGrain(-1).IsCancelled(other.Token));
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_method_that_waits_with_a_cancelled_token_fails_as_a_cancelled_task(int caller)
    {
        using var source = new GrainCancellationTokenSource();
        await source.Cancel();
        var grain = NewGrain(caller);
        await Place.On(cluster.AddressOf(0), grain.Seat);
        var call = grain.Delay(source.Token);
        await Assert.ThrowsAsync<TaskCanceledException>(() => call);
    }

    [Fact]
    public async Task A_call_that_waits_when_the_token_is_cancelled_gets_it_cancelled()
    {
        using var source = new GrainCancellationTokenSource();
        using var gate = new Gate();
        var grain = NewGrain(-1);
        var blocking = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var call = grain.IsCancelled(source.Token);
        await source.Cancel().WaitAsync(Gate.Patience);
        gate.Open();
        await blocking;
        Assert.True(await call.WaitAsync(Gate.Patience));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task The_exception_of_a_callback_comes_back_to_who_cancels(int callee)
    {
        using var source = new GrainCancellationTokenSource();
        var grain = NewGrain(0);
        await Place.On(cluster.AddressOf(callee), grain.Seat);
        var call = grain.ThrowInCallback(_started.Name, source.Token);
        await _started.ArrivedAsync();
        var exception = await Assert.ThrowsAsync<AggregateException>(() => source.Cancel().WaitAsync(Gate.Patience));
        Assert.IsType<InvalidOperationException>(exception.InnerException);
        await call.WaitAsync(Gate.Patience);
    }

    private ITokenGrain NewGrain(int caller) =>
        (caller < 0 ? cluster.Client : cluster.ClientOf(caller)).GetGrain<ITokenGrain>(Guid.NewGuid());

    public interface ITokenGrain : IGrainWithGuidKey
    {
        Task<SiloAddress> Seat();

        Task Block(string gate);

        Task<bool> Wait(string started, GrainCancellationToken token);

        Task<bool> PassOn(ITokenGrain other, string started, GrainCancellationToken token);

        Task<bool> IsCancelled(GrainCancellationToken token);

        Task<bool> Delay(GrainCancellationToken token);

        Task ThrowInCallback(string started, GrainCancellationToken token);
    }

    public sealed class TokenGrain : Grain, ITokenGrain
    {
        public Task<SiloAddress> Seat() => Task.FromResult(((IGrainBase)this).GrainContext.Address.SiloAddress!);

        public Task Block(string gate) => Gate.PassAsync(gate);

        public async Task<bool> Wait(string started, GrainCancellationToken token)
        {
            var turns = TaskScheduler.Current;
            var heard = new TaskCompletionSource<bool>();
            using var registration = token.CancellationToken.Register(() => heard.SetResult(TaskScheduler.Current == turns));
            Gate.Touch(started);
            return await heard.Task;
        }

        public Task<bool> PassOn(ITokenGrain other, string started, GrainCancellationToken token) => other.Wait(started, token);

        public Task<bool> IsCancelled(GrainCancellationToken token) => Task.FromResult(token.CancellationToken.IsCancellationRequested);

        public async Task<bool> Delay(GrainCancellationToken token)
        {
            await new TaskCompletionSource().Task.WaitAsync(token.CancellationToken);
            return true;
        }

        public async Task ThrowInCallback(string started, GrainCancellationToken token)
        {
            var ended = new TaskCompletionSource();
            using var first = token.CancellationToken.Register(ended.SetResult);
            using var second = token.CancellationToken.Register(() => throw new InvalidOperationException("from a callback"));
            Gate.Touch(started);
            await ended.Task;
        }
    }
}
