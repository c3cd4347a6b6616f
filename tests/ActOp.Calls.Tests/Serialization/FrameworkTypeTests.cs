using ActOp.TestClusters;
using Orleans.Providers.Streams.Common;
using Orleans.Serialization;
using Orleans.Statistics;
using Orleans.Streams;

namespace ActOp.Calls.Tests.Serialization;

/// <summary>Types of the framework in the calls of an application.</summary>
public class FrameworkTypeTests(TwoSilos cluster) : IClassFixture<TwoSilos>
{
    [Fact]
    public async Task Ids_of_queues_travel_alone_and_in_collections()
    {
        var queue = QueueId.GetQueueId("Queue", 3, 77);
        foreach (var silo in new[] { 0, 1 })
        {
            var grain = cluster.ClientOf(silo).GetGrain<IFrameworkTypes>(1);
            Assert.Equal(queue, await grain.Queue(queue));
            Assert.True((await grain.Queue(default)).IsDefault);
            Assert.Equal([queue, default], await grain.Queues([queue, default]));
            Assert.Equal(5, (await grain.Counts(new Dictionary<QueueId, int> { [queue] = 5 }))[queue]);
            Assert.Equal(queue, await grain.Anything(queue));
        }
    }

    [Fact]
    public async Task The_options_of_the_stream_generator_travel()
    {
        foreach (var silo in new[] { 0, 1 })
        {
            var options = new SimpleGeneratorOptions { EventsInStream = 7, StreamNamespace = "made up" };
            var read = Assert.IsType<SimpleGeneratorOptions>(
                await cluster.ClientOf(silo).GetGrain<IFrameworkTypes>(2).Anything(options));
            Assert.Equal((7, "made up"), (read.EventsInStream, read.StreamNamespace));
        }
    }

    [Fact]
    public void Types_of_the_framework_that_applications_send_have_codecs()
    {
        var serializer = cluster.Client.ServiceProvider.GetRequiredService<Serializer>();
        Assert.Equal("", string.Join(' ', Sent.Where(type => !serializer.CanSerialize(type)).Select(static type => type.FullName)));
    }

    /// <summary>Those that have generated codecs in Orleans, or codecs of their own.</summary>
    private static readonly Type[] Sent =
    [
        typeof(SiloAddress), typeof(GrainId), typeof(GrainType), typeof(GrainInterfaceType), typeof(IdSpan), typeof(ActivationId),
        typeof(GrainAddress), typeof(MembershipVersion), typeof(SiloStatus), typeof(MembershipEntry), typeof(TableVersion),
        typeof(MembershipTableData), typeof(SimpleGrainStatistic), typeof(DetailedGrainStatistic), typeof(SiloRuntimeStatistics),
        typeof(EnvironmentStatistics), typeof(ReminderEntry), typeof(ReminderTableData),
        typeof(StreamId), typeof(QualifiedStreamId), typeof(QueueId), typeof(EventSequenceToken), typeof(EventSequenceTokenV2),
        typeof(StreamSequenceToken), typeof(Orleans.BroadcastChannel.ChannelId), typeof(Immutable<int>), typeof(GrainReference),
        typeof(Orleans.Streams.Core.StreamSubscription), typeof(StreamSubscriptionHandle<int>), typeof(IAsyncStream<int>),
        typeof(SimpleGeneratorOptions), typeof(GrainCancellationToken),
        typeof(Orleans.Versions.Compatibility.BackwardCompatible), typeof(Orleans.Versions.Compatibility.AllVersionsCompatible),
        typeof(Orleans.Versions.Compatibility.StrictVersionCompatible), typeof(Orleans.Versions.Selector.LatestVersion),
        typeof(Orleans.Versions.Selector.MinimumVersion), typeof(Orleans.Versions.Selector.AllCompatibleVersions),
        typeof(Orleans.CodeGeneration.InvokeMethodOptions),
    ];

    public interface IFrameworkTypes : IGrainWithIntegerKey
    {
        Task<QueueId> Queue(QueueId queue);

        Task<List<QueueId>> Queues(List<QueueId> queues);

        Task<Dictionary<QueueId, int>> Counts(Dictionary<QueueId, int> counts);

        Task<object> Anything(object value);
    }

    public sealed class FrameworkTypesGrain : Grain, IFrameworkTypes
    {
        public Task<QueueId> Queue(QueueId queue) => Task.FromResult(queue);

        public Task<List<QueueId>> Queues(List<QueueId> queues) => Task.FromResult(queues);

        public Task<Dictionary<QueueId, int>> Counts(Dictionary<QueueId, int> counts) => Task.FromResult(counts);

        public Task<object> Anything(object value) => Task.FromResult(value);
    }
}
