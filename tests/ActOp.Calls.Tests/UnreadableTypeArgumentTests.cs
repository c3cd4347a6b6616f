using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>Calls whose type arguments no silo can read: types that no generated code has registered.</summary>
public sealed class UnreadableTypeArgumentTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_call_of_a_stateless_worker_fails_with_the_reason(bool isExternal) =>
        await FailsWithTheReason(() => Client(isExternal).GetGrain<INamingWorker>(0).NameOf<Unregistered>(), isExternal);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_call_of_a_new_grain_fails_with_the_reason(bool isExternal)
    {
        for (var key = 0; key < 4; key++)
        {
            var grain = Client(isExternal).GetGrain<INaming>(Guid.NewGuid());
            await FailsWithTheReason(() => Place.On(cluster.AddressOf(1), grain.NameOf<Unregistered>), isExternal);
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_call_of_an_active_grain_fails_with_the_reason(bool isExternal)
    {
        var grain = Client(isExternal).GetGrain<INaming>(Guid.NewGuid());
        Assert.Equal("Int32", await Place.On(cluster.AddressOf(1), grain.NameOf<int>));
        await FailsWithTheReason(grain.NameOf<Unregistered>, isExternal);
    }

    private IClusterClient Client(bool isExternal) => isExternal ? cluster.Client : cluster.ClientOf(0);

    /// <summary>A worker and a new grain run in the silo of their caller, if it hosts them: then nobody has to read anything.</summary>
    private static async Task FailsWithTheReason(Func<Task<string>> call, bool isExternal)
    {
        var exception = await Record.ExceptionAsync(() => call().WaitAsync(Gate.Patience));
        if (exception is null && !isExternal)
            return;
        Assert.NotNull(exception);
        Assert.Contains(nameof(Unregistered), exception.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("forwarded", exception.ToString(), StringComparison.Ordinal);
    }

    public interface INaming : IGrainWithGuidKey
    {
        Task<string> NameOf<T>();
    }

    public interface INamingWorker : IGrainWithIntegerKey
    {
        Task<string> NameOf<T>();
    }

    public sealed class NamingGrain : Grain, INaming
    {
        public Task<string> NameOf<T>() => Task.FromResult(typeof(T).Name);
    }

    [StatelessWorker]
    public sealed class NamingWorker : Grain, INamingWorker
    {
        public Task<string> NameOf<T>() => Task.FromResult(typeof(T).Name);
    }

    public sealed class Unregistered;
}
