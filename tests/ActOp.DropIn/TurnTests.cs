using Orleans.Concurrency;
using Orleans.Serialization.Invocation;

namespace DropIn;

/// <summary>Calls that wait at a gate, and calls that try to run meanwhile.</summary>
public interface ITurns : IGrainWithStringKey
{
    Task Work(string journal, string name, string? gate);

    [AlwaysInterleave]
    Task Always(string journal, string name);

    [ReadOnly]
    Task Read(string journal, string name, string? gate);

    [OneWay]
    Task Forget(string journal, string name, string? gate);

    [OneWay]
    Task ForgetFailing(string journal);

    [OneWay]
    void ForgetVoid(string journal, string name);

    Task<string> CallBack(ITurns through, string? how);

    Task<string> PassOn(ITurns back);

    Task<string> Answer();

    [ResponseTimeout("00:00:00.300")]
    Task<string> PassOnBriefly(ITurns back);

    Task<bool[]> Schedulers();
}

public abstract class Turns : Grain, ITurns
{
    public async Task Work(string journal, string name, string? gate)
    {
        Journal.Of(journal).Add("begin " + name);
        await Gate.PassAsync(gate);
        Journal.Of(journal).Add("end " + name);
    }

    public Task Always(string journal, string name) => Work(journal, name, null);

    public Task Read(string journal, string name, string? gate) => Work(journal, name, gate);

    public Task Forget(string journal, string name, string? gate) => Work(journal, name, gate);

    public Task ForgetFailing(string journal)
    {
        Journal.Of(journal).Add("fails");
        throw new InvalidOperationException("Nobody hears this.");
    }

    public void ForgetVoid(string journal, string name) => Journal.Of(journal).Add(name);

    public async Task<string> CallBack(ITurns through, string? how)
    {
        try
        {
            switch (how)
            {
                case "allow":
                    using (RequestContext.AllowCallChainReentrancy())
                        return await through.PassOn(this.AsReference<ITurns>());
                case "allowed before":
                    RequestContext.AllowCallChainReentrancy().Dispose();
                    return await through.PassOnBriefly(this.AsReference<ITurns>());
                case "suppress":
                    using (RequestContext.AllowCallChainReentrancy())
                    using (RequestContext.SuppressCallChainReentrancy())
                        return await through.PassOnBriefly(this.AsReference<ITurns>());
                default:
                    return await through.PassOnBriefly(this.AsReference<ITurns>());
            }
        }
        catch (TimeoutException)
        {
            return "timed out";
        }
    }

    public Task<string> PassOn(ITurns back) => back.Answer();

    public Task<string> PassOnBriefly(ITurns back) => back.Answer();

    public Task<string> Answer() => Task.FromResult("answer");

    public async Task<bool[]> Schedulers()
    {
        var own = TaskScheduler.Current;
        await Task.Yield();
        var afterYield = TaskScheduler.Current == own;
        var started = await Task.Factory.StartNew(static () => TaskScheduler.Current);
        var pool = await Task.Run(static () => TaskScheduler.Current);
        var afterRun = TaskScheduler.Current == own;
        return [own == TaskScheduler.Default, afterYield, started == own, pool == TaskScheduler.Default, afterRun];
    }
}

public interface IOneByOne : ITurns;

public interface IReentrantTurns : ITurns;

public interface ISomeInterleave : ITurns;

public sealed class OneByOneGrain : Turns, IOneByOne;

[Reentrant]
public sealed class ReentrantTurnsGrain : Turns, IReentrantTurns;

[MayInterleave(nameof(MayInterleave))]
public sealed class SomeInterleaveGrain : Turns, ISomeInterleave
{
    public static bool MayInterleave(IInvokable request)
    {
        if (request.GetMethodName() != nameof(Work))
            return false;
        var name = (string?)request.GetArgument(1);
        return name == "broken" ? throw new InvalidOperationException("The predicate fails.")
            : name!.StartsWith("free", StringComparison.Ordinal);
    }
}

/// <summary>Which calls run while another one of the same grain waits, and in which order.</summary>
public class TurnTests(CommonCluster cluster) : IDisposable
{
    private readonly Gate _gate = new();
    private readonly (Journal Journal, string Name) _made = Journal.Create();

    private string Name => _made.Name;

    public void Dispose()
    {
        _gate.Dispose();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public async Task One_call_runs_after_the_other()
    {
        var grain = cluster.Client.GetGrain<IOneByOne>(Name);
        var first = grain.Work(Name, "first", _gate.Name);
        await _gate.ArrivedAsync();
        var second = grain.Work(Name, "second", null);
        // It was sent after the second call: when it has run, that one waits.
        await grain.Always(Name, "always");
        _gate.Open();
        await Task.WhenAll(first, second);
        Assert.Equal(["begin first", "begin always", "end always", "end first", "begin second", "end second"], _made.Journal.Lines);
    }

    /// <summary>In which order is not said: calls of a client may overtake each other in Orleans.</summary>
    [Fact]
    public async Task Many_calls_run_one_at_a_time()
    {
        var grain = cluster.Client.GetGrain<IOneByOne>(Name);
        await Task.WhenAll(Enumerable.Range(0, 100).Select(index => grain.Work(Name, index.ToString(), null)));
        var names = _made.Journal.Lines.Where(static line => line.StartsWith("begin", StringComparison.Ordinal))
            .Select(static line => line[6..]).ToArray();
        Assert.Equal(names.SelectMany(static name => new[] { "begin " + name, "end " + name }), _made.Journal.Lines);
        Assert.Equal(100, names.Distinct().Count());
    }

    [Fact]
    public async Task A_reentrant_grain_runs_calls_beside_each_other()
    {
        var grain = cluster.Client.GetGrain<IReentrantTurns>(Name);
        var first = grain.Work(Name, "first", _gate.Name);
        await _gate.ArrivedAsync();
        await grain.Work(Name, "second", null);
        _gate.Open();
        await first;
        Assert.Equal(["begin first", "begin second", "end second", "end first"], _made.Journal.Lines);
    }

    [Fact]
    public async Task Calls_that_only_read_run_beside_each_other_and_not_beside_others()
    {
        var grain = cluster.Client.GetGrain<IOneByOne>(Name);
        var first = grain.Read(Name, "read", _gate.Name);
        await _gate.ArrivedAsync();
        await grain.Read(Name, "read too", null);
        var write = grain.Work(Name, "write", null);
        await grain.Always(Name, "always");
        _gate.Open();
        await Task.WhenAll(first, write);
        Assert.Equal(["begin read", "begin read too", "end read too", "begin always", "end always", "end read", "begin write", "end write"],
            _made.Journal.Lines);
    }

    [Fact]
    public async Task A_predicate_says_which_calls_may_interleave()
    {
        var grain = cluster.Client.GetGrain<ISomeInterleave>(Name);
        var first = grain.Work(Name, "first", _gate.Name);
        await _gate.ArrivedAsync();
        var queued = grain.Work(Name, "queued", null);
        await grain.Work(Name, "free", null);
        _gate.Open();
        await Task.WhenAll(first, queued);
        Assert.Equal(["begin first", "begin free", "end free", "end first", "begin queued", "end queued"], _made.Journal.Lines);
    }

    [Fact]
    public async Task A_call_beside_one_that_may_interleave_runs()
    {
        var grain = cluster.Client.GetGrain<ISomeInterleave>(Name);
        var first = grain.Work(Name, "free", _gate.Name);
        await _gate.ArrivedAsync();
        await grain.Work(Name, "other", null);
        _gate.Open();
        await first;
        Assert.Equal(["begin free", "begin other", "end other", "end free"], _made.Journal.Lines);
    }

    [Fact]
    public async Task A_predicate_that_fails_fails_the_call()
    {
        var grain = cluster.Client.GetGrain<ISomeInterleave>(Name);
        var first = grain.Work(Name, "first", _gate.Name);
        await _gate.ArrivedAsync();
        var exception = await Assert.ThrowsAsync<InvalidOperationException>(() => grain.Work(Name, "broken", null));
        Assert.Equal("The predicate fails.", exception.Message);
        _gate.Open();
        await first;
    }

    [Fact]
    public async Task A_call_chain_may_come_back_only_where_its_grain_allows_it()
    {
        Task<string> CallBack(string? how) => cluster.Client.GetGrain<IOneByOne>(Name + how)
            .CallBack(cluster.Client.GetGrain<IOneByOne>(Name + " through " + how), how);
        var answers = await Task.WhenAll(CallBack("allow"), CallBack("allowed before"), CallBack("suppress"), CallBack(null));
        Assert.Equal(["answer", "timed out", "timed out", "timed out"], answers);
    }

    [Fact]
    public async Task A_reentrant_grain_can_be_called_back() =>
        Assert.Equal("answer", await cluster.Client.GetGrain<IReentrantTurns>(Name).CallBack(
            cluster.Client.GetGrain<IOneByOne>(Name), null));

    [Fact]
    public async Task A_one_way_call_ends_when_it_is_sent()
    {
        var grain = cluster.Client.GetGrain<IOneByOne>(Name);
        var call = grain.Forget(Name, "one way", _gate.Name);
        await call;
        await _gate.ArrivedAsync();
        Assert.DoesNotContain("end one way", _made.Journal.Lines);
        _gate.Open();
        await _made.Journal.HasAsync("end one way");
        await grain.ForgetFailing(Name);
        await _made.Journal.HasAsync("fails");
        grain.ForgetVoid(Name, "void");
        await _made.Journal.HasAsync("void");
    }

    [Fact]
    public async Task Turns_and_the_tasks_that_they_start_run_on_the_scheduler_of_the_activation() =>
        Assert.Equal("False True True True True", string.Join(' ', await cluster.Client.GetGrain<IOneByOne>(Name).Schedulers()));
}
