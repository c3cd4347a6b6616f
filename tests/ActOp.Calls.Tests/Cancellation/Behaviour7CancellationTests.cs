using ActOp.Runtime.Nodes;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Cancellation;

/// <summary>
/// Hard-to-match behaviour 7: CancellationToken propagation. Callers do not wait for the callee here; see
/// <see cref="AcknowledgedCancellationTests"/> for those that do.
/// </summary>
public sealed class Behaviour7CancellationTests(TwoSilos cluster) : IClassFixture<TwoSilos>, IDisposable
{
    private readonly Gate _started = new();
    private readonly Gate _cancelled = new();

    private IPatient NewGrain(IClusterClient? client = null) => (client ?? cluster.Client).GetGrain<IPatient>(Guid.NewGuid());

    public void Dispose()
    {
        _started.Dispose();
        _cancelled.Dispose();
    }

    [Fact]
    public async Task A_call_with_a_cancelled_token_is_not_sent()
    {
        var token = new CancellationToken(canceled: true);
        var exception =
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => NewGrain().Wait(_started.Name, _cancelled.Name, token));
        Assert.Equal(token, exception.CancellationToken);
        Assert.Equal(0, _started.Count);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    public async Task A_call_with_a_cancelled_token_throws_the_exception_of_the_token_at_once(int caller)
    {
        var token = new CancellationToken(canceled: true);
        var grain = NewGrain(caller < 0 ? null : cluster.ClientOf(caller));
        // At the call, as from ThrowIfCancellationRequested: nothing is sent, so there is nothing to await.
        var exception = Assert.Throws<OperationCanceledException>(() => grain.Wait(_started.Name, _cancelled.Name, token).Ignore());
        Assert.Equal(token, exception.CancellationToken);
        exception = Assert.Throws<OperationCanceledException>(() => grain.Add(1, 2, token).AsTask().Ignore());
        Assert.Equal(token, exception.CancellationToken);
        Assert.Equal(3, await grain.Add(1, 2, default));
        Assert.Equal(0, _started.Count);
    }

    [Theory]
    [InlineData(-1, 0)]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    public async Task A_running_call_is_cancelled_at_its_silo(int caller, int callee)
    {
        using var source = new CancellationTokenSource();
        var grain = NewGrain(caller < 0 ? null : cluster.ClientOf(caller));
        await Place.On(cluster.AddressOf(callee), grain.Seat);
        var call = grain.Wait(_started.Name, _cancelled.Name, source.Token);
        await _started.ArrivedAsync();
        source.Cancel();
        var exception = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        Assert.Equal(source.Token, exception.CancellationToken);
        Assert.True(call.IsCanceled);
        await _cancelled.ArrivedAsync();
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    public async Task The_caller_does_not_wait_for_the_callee(int caller)
    {
        using var source = new CancellationTokenSource();
        using var gate = new Gate();
        var grain = NewGrain(caller < 0 ? null : cluster.ClientOf(caller));
        await Place.On(cluster.AddressOf(0), grain.Seat);
        var blocking = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var call = grain.AnswerWhenCancelled(_started.Name, source.Token);
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        gate.Open();
        await blocking;
        await grain.Seat();
        // To another silo, the cancellation may come after the end of the blocking call: then the method starts and is cancelled.
        if (caller == 0)
            Assert.Equal(0, _started.Count);
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(0, 1)]
    public async Task A_token_is_passed_on_from_grain_to_grain(int first, int second)
    {
        using var source = new CancellationTokenSource();
        var (one, other) = (NewGrain(), NewGrain());
        await Place.On(cluster.AddressOf(first), one.Seat);
        await Place.On(cluster.AddressOf(second), other.Seat);
        var call = one.PassOn(other, _started.Name, _cancelled.Name, source.Token);
        await _started.ArrivedAsync();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        await _cancelled.ArrivedAsync();
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    public async Task An_observer_gets_the_token(int owner)
    {
        using var source = new CancellationTokenSource();
        var observer = new PatientObserver();
        var client = owner < 0 ? cluster.Client : cluster.ClientOf(owner);
        var reference = client.CreateObjectReference<IPatientObserver>(observer);
        var grain = NewGrain();
        await Place.On(cluster.AddressOf(0), grain.Seat);
        var call = grain.Ask(reference, _started.Name, _cancelled.Name, source.Token);
        await _started.ArrivedAsync();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        await _cancelled.ArrivedAsync();
        GC.KeepAlive(observer);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task Callbacks_on_the_token_run_on_turns_of_the_grain(int silo)
    {
        using var source = new CancellationTokenSource();
        var grain = NewGrain(cluster.ClientOf(0));
        await Place.On(cluster.AddressOf(silo), grain.Seat);
        var call = grain.HearsOnTurn(_started.Name, source.Token);
        await _started.ArrivedAsync();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task A_call_that_is_forwarded_to_a_new_grain_is_cancelled_there()
    {
        for (var round = 0; round < 40; round++)
        {
            using var source = new CancellationTokenSource();
            var grain = NewGrain();
            var call = Place.On(cluster.AddressOf(round % 2), () => grain.Wait(_started.Name, _cancelled.Name, source.Token));
            await _started.ArrivedAsync();
            source.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
            await _cancelled.ArrivedAsync();
        }
    }

    [Fact]
    public async Task A_callback_that_throws_harms_nobody()
    {
        using var source = new CancellationTokenSource();
        var grain = NewGrain();
        var call = grain.ThrowsInCallback(_started.Name, source.Token);
        await _started.ArrivedAsync();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        await grain.Seat();
    }

    [Fact]
    public async Task A_request_that_waits_in_a_grain_that_migrates_is_cancelled_where_it_runs()
    {
        using var source = new CancellationTokenSource();
        using var gate = new Gate();
        var grain = NewGrain();
        await Place.On(cluster.AddressOf(0), grain.Seat);
        var blocking = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var leaving = Place.On(cluster.AddressOf(1), grain.Leave);
        var call = grain.Wait(_started.Name, _cancelled.Name, source.Token);
        gate.Open();
        await blocking;
        await leaving;
        await _started.ArrivedAsync();
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        await _cancelled.ArrivedAsync();
    }

    [Fact]
    public async Task A_call_without_a_live_token_gets_none()
    {
        using var source = new CancellationTokenSource();
        var grain = NewGrain();
        Assert.False(await grain.CanBeCancelled());
        Assert.True(await grain.CanBeCancelled(source.Token));
        var local = NewGrain(cluster.ClientOf(0));
        await Place.On(cluster.AddressOf(0), local.Seat);
        Assert.False(await local.CanBeCancelled());
        Assert.True(await local.CanBeCancelled(source.Token));
    }

    [Fact]
    public async Task Nothing_is_held_for_calls_that_have_ended_or_were_cancelled()
    {
        using var source = new CancellationTokenSource();
        var grains = Enumerable.Range(0, 50).Select(index => NewGrain(cluster.ClientOf(index % 2))).ToArray();
        foreach (var grain in grains)
            await grain.Add(1, 2, source.Token);
        var calls = grains.Select(grain => grain.Wait(_started.Name, _cancelled.Name, source.Token)).ToArray();
        for (var count = 0; count < grains.Length; count++)
            await _started.ArrivedAsync();
        source.Cancel();
        foreach (var call in calls)
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        for (var count = 0; count < grains.Length; count++)
            await _cancelled.ArrivedAsync();
        foreach (var grain in grains)
            Assert.Equal(3, await grain.Add(1, 2, CancellationToken.None));
        foreach (var node in cluster.Cluster.Silos.Select(static silo => silo.ServiceProvider.GetRequiredService<Node>()))
            await TestingUtils.WaitUntilAsync(_ => Task.FromResult(node.Calls.Cancellables.Count == 0), Gate.Patience);
    }

    [Fact]
    public async Task Many_calls_that_are_cancelled_at_any_moment_end_each_and_the_grains_go_on()
    {
        var grains = Enumerable.Range(0, 8).Select(index => NewGrain(cluster.ClientOf(index % 2))).ToArray();
        await Task.WhenAll(Enumerable.Range(0, 400).Select(async round =>
        {
            using var source = new CancellationTokenSource();
            var call = grains[round % grains.Length].Wait(_started.Name, _cancelled.Name, source.Token);
            for (var pause = round % 5; pause > 0; pause--)
                await Task.Yield();
            await source.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        }));
        for (var round = 0; round < 100; round++)
        {
            Assert.Equal(
                round, await grains[round % grains.Length].Add(round, 0, CancellationToken.None).AsTask().WaitAsync(Gate.Patience));
        }
    }
}

/// <summary>As <see cref="Behaviour7CancellationTests"/>, where callers wait until the callee has ended.</summary>
public sealed class AcknowledgedCancellationTests(AcknowledgedCancellationTests.Waiting cluster)
    : IClassFixture<AcknowledgedCancellationTests.Waiting>, IDisposable
{
    private readonly Gate _started = new();

    public void Dispose() => _started.Dispose();

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    public async Task The_caller_gets_what_the_callee_answers(int caller)
    {
        using var source = new CancellationTokenSource();
        var grain = (caller < 0 ? cluster.Client : cluster.ClientOf(caller)).GetGrain<IPatient>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        var call = grain.AnswerWhenCancelled(_started.Name, source.Token);
        await _started.ArrivedAsync();
        source.Cancel();
        Assert.Equal("stopped", await call.WaitAsync(Gate.Patience));
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_request_that_waits_is_answered_at_once_and_never_runs(int caller)
    {
        using var source = new CancellationTokenSource();
        using var gate = new Gate();
        var grain = (caller < 0 ? cluster.Client : cluster.ClientOf(caller)).GetGrain<IPatient>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        var blocking = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var call = grain.AnswerWhenCancelled(_started.Name, source.Token);
        source.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.WaitAsync(Gate.Patience));
        gate.Open();
        await blocking;
        Assert.Equal(0, _started.Count);
    }

    /// <summary>Callers wait for the callees of cancelled calls.</summary>
    public sealed class Waiting() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) =>
            silo.Configure<SiloMessagingOptions>(static options => options.WaitForCancellationAcknowledgement = true);

        protected override void ConfigureClient(IClientBuilder client) =>
            client.Configure<ClientMessagingOptions>(static options => options.WaitForCancellationAcknowledgement = true);
    }
}

/// <summary>A call that takes too long is cancelled at the callee, if the options say so.</summary>
public sealed class TimeoutCancellationTests
{
    /// <summary>Also the limit of the calls of the start, during which the clock is far ahead of a slow machine.</summary>
    private static readonly TimeSpan ResponseTimeout = TimeSpan.FromMinutes(2);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_call_that_takes_too_long_is_cancelled_at_the_callee(int callee)
    {
        using var started = new Gate();
        using var cancelled = new Gate();
        await using var silos = await SilosInVirtualTime.Deploy(static silo => silo.Configure<SiloMessagingOptions>(static options =>
        {
            options.CancelRequestOnTimeout = true;
            options.ResponseTimeout = ResponseTimeout;
        }));
        var grain = silos.Grains.GetGrain<IPatient>(Guid.NewGuid());
        await silos.AskAll([Place.On(silos.AddressOf(callee), grain.Seat)]);
        var call = grain.Wait(started.Name, cancelled.Name, CancellationToken.None);
        await started.ArrivedAsync();
        // In steps: in a jump, silos would hear nothing of each other for so long.
        await silos.PassAsync(ResponseTimeout + TimeSpan.FromSeconds(1), 0, 1);
        await Assert.ThrowsAsync<TimeoutException>(() => call.WaitAsync(Gate.Patience));
        await cancelled.ArrivedAsync();
    }
}

/// <summary>The calls of a caller that is gone are cancelled.</summary>
public sealed class DyingCallerTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task The_calls_of_a_caller_that_is_gone_are_cancelled(bool isClient)
    {
        using var started = new Gate();
        using var cancelled = new Gate();
        using var source = new CancellationTokenSource();
        var cluster = new TwoSilos();
        await cluster.InitializeAsync();
        await using var scope = cluster;
        var grain = (isClient ? cluster.Client : cluster.ClientOf(1)).GetGrain<IPatient>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), grain.Seat);
        var call = grain.Wait(started.Name, cancelled.Name, source.Token);
        await started.ArrivedAsync();
        if (isClient)
            await cluster.Cluster.KillClientAsync();
        else
            await cluster.Cluster.KillSiloAsync(cluster.Cluster.Silos[1]);
        await cancelled.ArrivedAsync();
        await Assert.ThrowsAnyAsync<Exception>(() => call.WaitAsync(Gate.Patience));
    }
}
