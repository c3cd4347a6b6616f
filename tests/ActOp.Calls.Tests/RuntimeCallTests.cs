using System.Collections.Concurrent;
using System.Diagnostics;
using ActOp.Calls;
using ActOp.Streams;
using ActOp.TestClusters;

namespace ActOp.Calls.Tests;

/// <summary>What the runtime calls for its own parts is invisible to the filters and traces of the application.</summary>
[Collection(nameof(Alone))]
public class RuntimeCallTests
{
    /// <summary>Streams, their storage and their subscriptions go on beside a filter that allows the application's calls only.</summary>
    [Fact]
    public async Task A_filter_that_denies_what_it_does_not_know_does_not_stop_streams()
    {
        var denied = new ConcurrentQueue<string>();
        await using var cluster = await StartAsync(context =>
        {
            if (context.InterfaceMethod.DeclaringType == typeof(IConsumer))
                return context.Invoke();
            denied.Enqueue(context.InterfaceName + "." + context.MethodName);
            throw new UnauthorizedAccessException(context.InterfaceName);
        });
        Assert.Equal(["1", "2"], await StreamAsync(cluster));
        Assert.Empty(denied);
    }

    [Fact]
    public async Task The_traces_of_an_application_contain_no_call_of_the_runtime()
    {
        var spans = new ConcurrentDictionary<string, int>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name is "ActOp.Runtime" or "Microsoft.Orleans.Application",
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = span => spans[span.OperationName] = 0,
        };
        ActivitySource.AddActivityListener(listener);
        await using var cluster = await StartAsync(static context => context.Invoke());
        Assert.Equal(["1", "2"], await StreamAsync(cluster));
        Assert.Contains(spans.Keys, static name =>
            name.EndsWith(nameof(IConsumer) + "/" + nameof(IConsumer.Subscribe), StringComparison.Ordinal));
        var ofRuntime = typeof(MemoryQueueGrain).Assembly.GetTypes().Where(static type => type.IsDefined(typeof(OfRuntimeAttribute), false))
            .Select(static type => type.FullName!).ToArray();
        Assert.NotEmpty(ofRuntime);
        Assert.DoesNotContain(spans.Keys, name => ofRuntime.Contains(name.Split('/')[0]));
    }

    private static async Task<string[]> StreamAsync(InProcessTestCluster cluster)
    {
        var box = Box.New();
        var stream = cluster.Client.GetStreamProvider("memory").GetStream<int>(StreamId.Create("runtime calls", Guid.NewGuid()));
        await cluster.Client.GetGrain<IConsumer>(Guid.NewGuid()).Subscribe("memory", stream.StreamId, box.Name);
        await stream.OnNextAsync(1);
        await stream.OnNextAsync(2);
        return await box.ReceivedAsync(2);
    }

    private static async Task<InProcessTestCluster> StartAsync(Func<IGrainCallContext, Task> filter)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) => silo.AddMemoryGrainStorage("PubSubStore").AddMemoryStreams("memory")
            .AddIncomingGrainCallFilter(context => filter(context)).AddOutgoingGrainCallFilter(context => filter(context)));
        builder.ConfigureClient(client => client.AddMemoryStreams("memory").AddOutgoingGrainCallFilter(context => filter(context)));
        var cluster = builder.Build();
        await cluster.DeployAsync();
        return cluster;
    }
}
