using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Concurrency;

/// <summary>
/// Which request may run while another one does. A call that interleaves always shows that those sent before it have been looked at.
/// </summary>
public class AdmissionTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Fact]
    public async Task An_ordinary_call_waits_until_the_running_one_has_ended()
    {
        using var gate = new Gate();
        var grain = Get<IPlainAdmission>();
        var running = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var ordinary = grain.Ordinary();
        var read = grain.Read();
        Assert.Equal(2, await grain.Always());
        Assert.False(ordinary.IsCompleted || read.IsCompleted);
        gate.Open();
        await running;
        Assert.Equal(3, await ordinary);
        Assert.Equal(4, await read);
    }

    [Fact]
    public async Task An_ordinary_call_runs_beside_calls_that_interleave()
    {
        using var gate = new Gate();
        var grain = Get<IPlainAdmission>();
        var running = grain.BlockInterleaving(gate.Name);
        await gate.ArrivedAsync();
        Assert.Equal(2, await grain.Ordinary());
        gate.Open();
        await running;
    }

    [Fact]
    public async Task Readers_run_together_even_past_a_waiting_writer()
    {
        using var gate = new Gate();
        var grain = Get<IPlainAdmission>();
        var running = grain.BlockReading(gate.Name);
        await gate.ArrivedAsync();
        var ordinary = grain.Ordinary();
        Assert.Equal(2, await grain.Read());
        Assert.Equal(3, await grain.Read());
        Assert.False(ordinary.IsCompleted);
        gate.Open();
        await running;
        Assert.Equal(4, await ordinary);
    }

    [Fact]
    public async Task A_reentrant_grain_admits_everything()
    {
        using var gate = new Gate();
        var grain = Get<IReentrantAdmission>();
        var running = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        Assert.Equal(2, await grain.Ordinary());
        Assert.Equal(3, await grain.Read());
        gate.Open();
        await running;
    }

    [Fact]
    public async Task A_predicate_chooses_by_the_incoming_call()
    {
        using var gate = new Gate();
        var grain = Get<ISelectiveAdmission>();
        var running = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var refused = grain.Selected("somebody");
        Assert.Equal(2, await grain.Selected("vip"));
        Assert.False(refused.IsCompleted);
        gate.Open();
        await running;
        Assert.Equal(3, await refused);
    }

    [Fact]
    public async Task A_predicate_chooses_by_the_running_call_too()
    {
        using var gate = new Gate();
        var grain = Get<ISelectiveAdmission>();
        var running = grain.BlockSelected("vip", gate.Name);
        await gate.ArrivedAsync();
        Assert.Equal(2, await grain.Ordinary());
        gate.Open();
        await running;
    }

    [Fact]
    public async Task A_call_whose_predicate_throws_fails_with_that_exception()
    {
        using var gate = new Gate();
        var grain = Get<ISelectiveAdmission>();
        var running = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => grain.Selected("bomb"));
        Assert.Equal("predicate bomb", exception.Message);
        Assert.False(running.IsCompleted);
        gate.Open();
        await running;
        Assert.Equal(2, await grain.Ordinary());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_one_way_call_is_over_for_the_caller_when_it_is_sent(int silo)
    {
        using var gate = new Gate();
        var grain = cluster.ClientOf(0).GetGrain<IPlainAdmission>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(silo), grain.Ordinary);
        await grain.Shout(gate.Name);
        await gate.ArrivedAsync();
        gate.Open();
        await grain.ShoutAndFail();
        Assert.Equal(4, await grain.Ordinary());
    }

    [Fact]
    public async Task Waiting_calls_run_in_order_of_arrival()
    {
        using var gate = new Gate();
        var grain = Get<IPlainAdmission>();
        var running = grain.Block(gate.Name);
        await gate.ArrivedAsync();
        var waiting = Enumerable.Range(0, 200).Select(_ => grain.Ordinary()).ToArray();
        gate.Open();
        await running;
        Assert.Equal(Enumerable.Range(2, 200), await Task.WhenAll(waiting));
    }

    [Fact]
    public async Task A_stateless_worker_runs_as_many_calls_at_once_as_it_may_and_no_more()
    {
        using var gate = new Gate();
        var grain = cluster.ClientOf(0).GetGrain<IWorkerAdmission>(0);
        var calls = Enumerable.Range(0, 5).Select(_ => grain.Work(gate.Name)).ToArray();
        for (var worker = 0; worker < 3; worker++)
            await gate.ArrivedAsync();
        Assert.Equal(3, gate.Count);
        gate.Open();
        var workers = await Task.WhenAll(calls);
        Assert.Equal(3, workers.Distinct().Count());
    }

    [Fact]
    public async Task Each_call_over_an_interface_that_permits_any_order_runs_once()
    {
        var grain = Get<IUnorderedAdmission>();
        var numbers = await Task.WhenAll(Enumerable.Range(0, 100).Select(_ => grain.Ordinary()));
        Assert.Equal(Enumerable.Range(1, 100), numbers.Order());
    }

    private T Get<T>()
        where T : IAdmission => cluster.ClientOf(0).GetGrain<T>(Guid.NewGuid());

    public interface IAdmission : IGrainWithGuidKey
    {
        Task Block(string gate);

        Task BlockSelected(string who, string gate);

        [AlwaysInterleave]
        Task BlockInterleaving(string gate);

        [ReadOnly]
        Task BlockReading(string gate);

        Task<int> Ordinary();

        [ReadOnly]
        Task<int> Read();

        [AlwaysInterleave]
        Task<int> Always();

        Task<int> Selected(string who);

        [OneWay]
        Task Shout(string gate);

        [OneWay]
        Task ShoutAndFail();
    }

    public interface IPlainAdmission : IAdmission;

    public interface IReentrantAdmission : IAdmission;

    public interface ISelectiveAdmission : IAdmission;

#pragma warning disable CS0618 // The test is about it.
    [Unordered]
#pragma warning restore CS0618
    public interface IUnorderedAdmission : IAdmission;

    public interface IWorkerAdmission : IGrainWithIntegerKey
    {
        Task<Guid> Work(string gate);
    }

    public abstract class AdmissionGrain : Grain, IAdmission
    {
        private int _started;

        public Task Block(string gate) => Count(gate);

        public Task BlockSelected(string who, string gate) => Count(gate);

        public Task BlockInterleaving(string gate) => Count(gate);

        public Task BlockReading(string gate) => Count(gate);

        public Task<int> Ordinary() => Task.FromResult(++_started);

        public Task<int> Read() => Task.FromResult(++_started);

        public Task<int> Always() => Task.FromResult(++_started);

        public Task<int> Selected(string who) => Task.FromResult(++_started);

        public Task Shout(string gate) => Count(gate);

        public Task ShoutAndFail()
        {
            _started++;
            throw new InvalidOperationException("nobody hears it");
        }

        private Task Count(string gate)
        {
            _started++;
            return Gate.PassAsync(gate);
        }
    }

    public sealed class PlainAdmissionGrain : AdmissionGrain, IPlainAdmission;

    public sealed class UnorderedAdmissionGrain : AdmissionGrain, IUnorderedAdmission;

    [Reentrant]
    public sealed class ReentrantAdmissionGrain : AdmissionGrain, IReentrantAdmission;

    [MayInterleave(nameof(IsVip))]
    public sealed class SelectiveAdmissionGrain : AdmissionGrain, ISelectiveAdmission
    {
        public static bool IsVip(Orleans.Serialization.Invocation.IInvokable request)
        {
            if (request.GetArgumentCount() == 0 || request.GetArgument(0) is not string who)
                return false;
            return who == "bomb" ? throw new InvalidOperationException("predicate bomb") : who == "vip";
        }
    }

    [StatelessWorker(3)]
    public sealed class WorkerAdmissionGrain : Grain, IWorkerAdmission
    {
        private readonly Guid _id = Guid.NewGuid();

        public async Task<Guid> Work(string gate)
        {
            await Gate.PassAsync(gate);
            return _id;
        }
    }
}
