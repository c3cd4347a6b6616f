using ActOp.Configuration;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Orleans.Concurrency;

namespace ActOp.Faults.Tests;

/// <summary>A client that does not read what it has asked for is not read either: nothing is refused, and nothing more is made for it.</summary>
public class UnreadAnswerTests : IAsyncLifetime
{
    private const int Requests = 4_000;

    /// <summary>Of a request and of its answer: what was read before the pause does not bring much more than what waits then.</summary>
    private const int Bytes = 16 << 10;

    private const int Limit = 32 << 20;

    private InProcessTestCluster _cluster = null!;

    private Node Client => _cluster.Client.ServiceProvider.GetRequiredService<Node>();

    private Node Silo => _cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    public async ValueTask InitializeAsync()
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo(static (_, silo) => silo.Configure<ConnectionLimitOptions>(static options =>
            (options.MaxWaitingBytesPerNode, options.MaxWaitingBytes) = (Limit, 2 * Limit)));
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
        var request = new byte[Bytes];
        var answers = Enumerable.Range(0, Requests).Select(_ => grain.Answer(request, Bytes)).ToList();
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Waiting >= Limit / 4), Gate.Patience, TimeSpan.FromMilliseconds(1));
        await RestAsync();
        Assert.InRange(AnsweringGrain.Answers, 1, Requests - 1);
        Client.Peers.Pause(Silo.Address, false);
        // None of them was refused: what waits never reached the limit.
        await Task.WhenAll(answers).WaitAsync(Gate.Patience);
        Assert.Equal(Requests * (long)Bytes, answers.Sum(static answer => (long)answer.Result.Length));
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(Waiting == 0), Gate.Patience, TimeSpan.FromMilliseconds(1));
    }

    /// <summary>Until what the silo has read is answered: then it answers no more. If it is slow, the test sees less.</summary>
    private static Task RestAsync()
    {
        var (last, same) = (0, 0);
        return TestingUtils.WaitUntilAsync(
            _ =>
            {
                var now = AnsweringGrain.Answers;
                (last, same) = (now, now == last ? same + 1 : 0);
                return Task.FromResult(same == 30);
            },
            Gate.Patience, TimeSpan.FromMilliseconds(10));
    }

    private long Waiting => Silo.Peers.WaitingBytesOf(Client.Address);

    public interface IAnswering : IGrainWithGuidKey
    {
        Task<byte[]> Answer(byte[] request, int bytes);
    }

    [Reentrant]
    public sealed class AnsweringGrain : Grain, IAnswering
    {
        private static int s_answers;

        public static int Answers => Volatile.Read(ref s_answers);

        public Task<byte[]> Answer(byte[] request, int bytes)
        {
            Interlocked.Increment(ref s_answers);
            return Task.FromResult(new byte[bytes]);
        }
    }
}
