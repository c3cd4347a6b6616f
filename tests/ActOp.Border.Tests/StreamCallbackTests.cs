using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.Internal;
using Orleans.Providers.Streams.Common;
using Orleans.Runtime.Providers;
using Orleans.Streams;
using Orleans.Streams.Core;
using Orleans.Streams.Filtering;
using static ActOp.Border.Tests.Deed;

namespace ActOp.Border.Tests;

/// <summary>
/// Parts of streams that do wrong: other queues deliver meanwhile, other streams of the same queue meanwhile or soon after, the stream
/// itself after it, the agents stop in time, and no batch stays held.
/// </summary>
[Collection(nameof(Mischief))]
public class StreamCallbackTests(TroubledStreams cluster) : IClassFixture<TroubledStreams>
{
    private static readonly Deed[] OfTask = [Throws, Fails, Hangs, ReturnsNull];

    internal static readonly Part[] All =
    [
        new("observer", OfStream.Yes, OfTask, typeof(IAsyncObserver<>), typeof(AsyncObservableExtensions)),
        new("observer of batches", OfStream.Yes, OfTask, typeof(IAsyncBatchObserver<>), typeof(AsyncBatchObservableExtensions),
            typeof(StreamSubscriptionHandleExtensions)),
        new("error handler of an observer", OfStream.Yes, OfTask),
        new("OnSubscribed", OfStream.Yes, [.. OfTask, DoesNothing], typeof(IStreamSubscriptionObserver)),
        new("filter", OfStream.Yes, [Throws, DoesNothing, ActsTwice], typeof(IStreamFilter)),
        new("items of a batch", OfStream.Yes, [Throws, ReturnsNull], typeof(IBatchContainer)),
        new("request context of a batch", OfStream.Yes, [Throws]),
        new("stream of a batch", OfStream.Yes, [Throws, ReturnsNull]),
        new("position of a batch", OfStream.Yes, [Throws, ReturnsNull]),
        new("maker of a cursor", OfStream.Yes, [Throws, ReturnsNull]),
        new("move of a cursor", OfStream.Yes, [Throws, DoesNothing], typeof(IQueueCacheCursor)),
        new("message of a cursor", OfStream.Yes, [Throws, ReturnsNull, ReturnsForeign]),
        new("refresh of a cursor", OfStream.Yes, [Throws]),
        new("note of a failed delivery", OfStream.Yes, [Throws]),
        new("end of a cursor", OfStream.Yes, [Throws]),
        new("failure handler", OfStream.Yes, OfTask, typeof(IStreamFailureHandler)),
        new("maker of the failure handler", OfStream.Yes, OfTask),
        new("delivery pause", OfStream.Yes, [Throws, ReturnsNull, ReturnsForeign], typeof(IMessageDeliveryBackoffProvider),
            typeof(IBackoffProvider)),
        new("predicate of namespaces", OfStream.Yes, [Throws], typeof(IStreamNamespacePredicate),
            typeof(IStreamNamespacePredicateProvider)),
        new("mapper of streams", OfStream.Yes, [Throws, ReturnsNull], typeof(IStreamIdMapper)),
        new("adapter", OfStream.Yes, OfTask, typeof(IQueueAdapter), typeof(IQueueAdapterFactory), typeof(IStreamQueueMapper)),
        new("pause of reads", OfStream.No, [Throws, ReturnsNull, ReturnsForeign], typeof(IQueueReaderBackoffProvider)),
        new("maker of the receiver", OfStream.No, [Throws, ReturnsNull]) { Restarts = true },
        new("start of a receiver", OfStream.No, OfTask, typeof(IQueueAdapterReceiver)) { Restarts = true },
        new("read", OfStream.No, [.. OfTask, ReturnsForeign]),
        new("acknowledgement", OfStream.No, OfTask),
        new("end of a receiver", OfStream.No, OfTask) { Restarts = true },
        new("maker of the cache", OfStream.No, [Throws, ReturnsNull], typeof(IQueueAdapterCache)) { Restarts = true },
        new("room in a cache", OfStream.No, [Throws, DoesNothing], typeof(IQueueCache), typeof(IQueueFlowController)),
        new("addition to a cache", OfStream.Lost, [Throws]),
        new("removal from a cache", OfStream.No, [Throws, ReturnsNull]),
        new("pressure of a cache", OfStream.No, [Throws, DoesNothing]),
        new("queues of a balancer", OfStream.No, [Throws, ReturnsNull, ReturnsForeign], typeof(IStreamQueueBalancer),
            typeof(IDeploymentConfiguration)) { Changes = true },
        new("start of a balancer", OfStream.No, OfTask) { Restarts = true },
        new("goodbye to a balancer", OfStream.No, [Throws]) { Restarts = true },
        new("end of a balancer", OfStream.No, OfTask) { Restarts = true },
    ];

    public static TheoryData<string, int, Deed> Cases
    {
        get
        {
            var cases = new TheoryData<string, int, Deed>();
            for (var index = 0; index < All.Length; index++)
            {
                foreach (var deed in All[index].Deeds)
                    cases.Add(All[index].Name, index, deed);
            }

            return cases;
        }
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public async Task What_a_part_of_a_stream_does_wrong_hurts_no_other(string name, int index, Deed deed)
    {
        var part = All[index];
        var key = " " + name + deed;
        // Agents keep a handler of failures that they have, and say only the first of many failures.
        await RestartAsync();
        var space = part.Types.Contains(typeof(IStreamNamespacePredicate)) ? "predicate" : part.Types.Contains(typeof(IStreamIdMapper))
            ? "mapped" : name == "OnSubscribed" ? "announced" : "trouble";
        var bad = await ConsumeAsync(space, "bad" + key);
        var same = await ListenAsync("same" + key);
        var other = await ListenAsync("other" + key);
        var lines = cluster.Log.Lines(LogLevel.Warning).Length;
        if (name == "refresh of a cursor")
        {
            await bad.Stream.OnNextAsync(0);
            await bad.Box.ReceivedAsync(1);
        }

        using (var planned = Mischief.Plan(name, deed))
        {
            if (part.Restarts)
                await RestartAsync();
            var answer = await Record.ExceptionAsync(() => bad.Stream.OnNextAsync(1).WaitAsync(TimeSpan.FromSeconds(1)));
            Assert.False(answer is NullReferenceException, answer?.ToString());
            await same.Stream.OnNextAsync(1);
            await other.Stream.OnNextAsync(1);
            if (part.Changes)
                await Record.ExceptionAsync(TroubledBalancer.Instance.ChangeAsync);
            if (name == "end of a cursor")
                await bad.EndAsync().WaitAsync(Gate.Patience);
            if (name != "start of a balancer")
                await other.Box.ReceivedAsync(1);
            if (part.Scope == OfStream.Yes)
                await same.Box.ReceivedAsync(1);
            await planned.Acted.WaitAsync(Gate.Patience);
            if (deed is Hangs)
                await RestartAsync();
        }

        await cluster.CommandAsync(PersistentStreamProviderCommand.StartAgents);
        if (name == "start of a balancer")
            await other.Box.ReceivedAsync(1);
        // The queues keep nothing for an agent that was started anew.
        if (part.Scope == OfStream.No && deed is not Hangs)
            await same.Box.ReceivedAsync(1);
        await AllArriveAsync(bad, same, other);
        await AtRestAsync();
        var told = cluster.Log.Lines(LogLevel.Warning)[lines..];
        Assert.True(told.Length <= 40, told.Length + " lines, such as " + string.Join('\n', told.Take(10)));
        var saysNothing = name is "adapter" or "removal from a cache" || deed is DoesNothing or ActsTwice or ReturnsForeign
            || (deed is Hangs && part.Scope == OfStream.No);
        Assert.True(
            saysNothing || told.Any(static line => line.Contains("trouble", StringComparison.OrdinalIgnoreCase)),
            "Lines: " + string.Join('\n', told));
        foreach (var one in new[] { bad, same, other })
            await one.EndAsync().WaitAsync(Gate.Patience);
    }

    [Theory]
    [InlineData("writer of bodies", Throws)]
    [InlineData("writer of bodies", ReturnsNull)]
    [InlineData("reader of bodies", Throws)]
    [InlineData("reader of bodies", ReturnsNull)]
    public async Task A_serializer_of_bodies_that_fails_costs_its_items_only(string name, Deed deed)
    {
        var stream = cluster.ClientOf(0).GetStreamProvider("bodies").GetStream<int>(StreamId.Create("bodies", name + deed));
        var box = Box.New();
        StreamTroubleObserver.Boxes[name + deed] = box.Name;
        var handle = await stream.SubscribeAsync((IAsyncObserver<int>)new StreamTroubleObserver(name + deed));
        using (var planned = Mischief.Plan(name, deed))
        {
            var answer = await Record.ExceptionAsync(() => stream.OnNextAsync(1).WaitAsync(Gate.Patience));
            Assert.Equal(name == "writer of bodies", answer is not null);
            await planned.Acted.WaitAsync(Gate.Patience);
        }

        await stream.OnNextAsync(2);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(box.Items.Contains("2")), Gate.Patience);
        await handle.UnsubscribeAsync();
    }

    /// <summary>Stops and starts the agents. What fails says so in time.</summary>
    private async Task RestartAsync()
    {
        foreach (var command in new[] { PersistentStreamProviderCommand.StopAgents, PersistentStreamProviderCommand.StartAgents })
        {
            if (await Record.ExceptionAsync(() => cluster.CommandAsync(command)) is { } failure)
            {
                Assert.True(
                    failure.Message.Contains("balancer", StringComparison.Ordinal) || failure.Message == Mischief.Word, failure.ToString());
            }
        }
    }

    private static async Task AllArriveAsync(params Listening[] all)
    {
        foreach (var one in all)
        {
            // What was produced first may have been given up meanwhile.
            await TestingUtils.WaitUntilAsync(
                async _ =>
                {
                    // A class that was not subscribed gets what comes later.
                    await one.Stream.OnNextAsync(2);
                    return one.Box.Items.Contains("2") || one.HasEnded;
                }, Gate.Patience, TimeSpan.FromMilliseconds(20));
        }
    }

    private static Task AtRestAsync() => TestingUtils.WaitUntilAsync(
        static _ => Task.FromResult(TroubledCache.IsAtRest), Gate.Patience, TimeSpan.FromMilliseconds(5));

    /// <summary>A grain that consumes.</summary>
    private async Task<Listening> ConsumeAsync(string space, string key)
    {
        var box = Box.New();
        var stream = cluster.Stream(space, key);
        StreamTroubleObserver.Boxes[key] = box.Name;
        if (space != "trouble")
            return new Listening(stream, box, static () => Task.CompletedTask);
        var grain = cluster.ClientOf(0).GetGrain<IStreamTrouble>(key);
        await grain.Subscribe(key.Contains("observer of batches", StringComparison.Ordinal));
        return new Listening(stream, box, grain.End);
    }

    /// <summary>An observer outside of grains.</summary>
    private async Task<Listening> ListenAsync(string key)
    {
        var box = Box.New();
        var stream = cluster.Stream("trouble", key);
        StreamTroubleObserver.Boxes[key] = box.Name;
        var handle = await stream.SubscribeAsync((IAsyncObserver<int>)new StreamTroubleObserver(key));
        return new Listening(stream, box, handle.UnsubscribeAsync);
    }

    /// <summary>A callback, as in <see cref="Callback"/>.</summary>
    internal sealed record Part(string Name, OfStream Scope, Deed[] Deeds, params Type[] Types)
    {
        /// <summary>It is called when agents start or end.</summary>
        internal bool Restarts { get; init; }

        /// <summary>It is called when the balancer says that something has changed.</summary>
        internal bool Changes { get; init; }
    }

    /// <summary>Whom the trouble may delay.</summary>
    internal enum OfStream
    {
        /// <summary>The stream or subscription.</summary>
        Yes,

        /// <summary>The queue.</summary>
        No,

        /// <summary>The queue, and what was read is lost.</summary>
        Lost,
    }

    private sealed record Listening(IAsyncStream<int> Stream, Box Box, Func<Task> End)
    {
        internal bool HasEnded { get; private set; }

        internal Task EndAsync()
        {
            if (HasEnded)
                return Task.CompletedTask;
            HasEnded = true;
            return End();
        }
    }
}
