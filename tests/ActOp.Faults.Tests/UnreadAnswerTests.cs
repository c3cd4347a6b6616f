using ActOp.Configuration;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Orleans.Concurrency;

namespace ActOp.Faults.Tests;

/// <summary>A client that does not read what it has asked for is not read either: nothing is refused, and nothing more is made for it.</summary>
public class UnreadAnswerTests : IAsyncLifetime
{
    private const int Requests = 1_000;
    private const int RequestBytes = 32 << 10;
    private const int AnswerBytes = 128 << 10;

    private InProcessTestCluster _cluster = null!;

    private Node Client => _cluster.Client.ServiceProvider.GetRequiredService<Node>();

    private Node Silo => _cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    public async ValueTask InitializeAsync()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo(static (_, silo) => silo.Configure<ConnectionLimitOptions>(static options =>
            (options.MaxWaitingBytesPerNode, options.MaxWaitingBytes) = (8 << 20, 16 << 20)));
        _cluster = builder.Build();
        await _cluster.DeployAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _cluster.DisposeAsync();
        GC.SuppressFinalize(this);
    }

    [Fact]
    public async Task A_client_that_does_not_read_its_answers_is_not_read_until_it_does()
    {
        var grain = _cluster.Client.GetGrain<IAnswering>(Guid.NewGuid());
        await grain.Answer([], 0);
        Client.Peers.Pause(Silo.Address, true);
        var request = new byte[RequestBytes];
        var answers = Enumerable.Range(0, Requests).Select(_ => grain.Answer(request, AnswerBytes)).ToList();
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Waiting >= (8 << 20) / 4), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Client.Peers.Pause(Silo.Address, false);
        // None of them was refused: what waits never reached the limit.
        await Task.WhenAll(answers).WaitAsync(Gate.Patience);
        Assert.Equal(Requests * (long)AnswerBytes, answers.Sum(static answer => (long)answer.Result.Length));
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Waiting == 0), Gate.Patience, TimeSpan.FromMilliseconds(1));
    }

    private long Waiting => Silo.Peers.WaitingBytesOf(Client.Address);

    public interface IAnswering : IGrainWithGuidKey
    {
        Task<byte[]> Answer(byte[] request, int bytes);
    }

    [Reentrant]
    public sealed class AnsweringGrain : Grain, IAnswering
    {
        public Task<byte[]> Answer(byte[] request, int bytes) => Task.FromResult(new byte[bytes]);
    }
}
