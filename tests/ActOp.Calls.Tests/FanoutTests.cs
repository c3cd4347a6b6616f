using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging.Abstractions;
using Orleans.Concurrency;
using Orleans.Utilities;

namespace ActOp.Calls.Tests;

/// <summary>A notification to many observers is one frame for each node, and brings each what a call of its own would bring.</summary>
public sealed class FanoutTests(TwoSilos cluster) : IClassFixture<TwoSilos>, IDisposable
{
    /// <summary>More than one step delivers.</summary>
    private const int Many = 400;

    private readonly List<object> _kept = [];

    private Node Publisher => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private long Frames => Read("actop.fanout.frames");

    private long Receivers => Read("actop.fanout.receivers");

    public void Dispose()
    {
        Publisher.Peers.IsPlayedOld = false;
        GC.KeepAlive(_kept);
    }

    [Fact]
    public async Task A_notification_is_one_frame_for_each_node_and_is_encoded_once()
    {
        var (desk, listeners) = await SubscribeAsync(Many, everywhere: true);
        var (frames, receivers) = (Frames, Receivers);
        var before = Story.Encoded;
        await desk.Tell("news");
        foreach (var listener in listeners)
            Assert.Equal(["news"], await listener.HeardAsync(1));
        Assert.Equal(2, Frames - frames);
        Assert.Equal(2 * Many, Receivers - receivers);
        Assert.Equal(1, Story.Encoded - before);
    }

    [Fact]
    public async Task Calls_with_answers_are_one_frame_too_and_each_answers_for_itself()
    {
        var (desk, listeners) = await SubscribeAsync(Many, everywhere: true);
        var frames = Frames;
        listeners[3].Fails = listeners[Many + 5].Fails = listeners[(2 * Many) + 7].Fails = true;
        Assert.Equal((3 * Many) - 3, await desk.Ask("question"));
        foreach (var listener in listeners)
            Assert.Equal(["question"], await listener.HeardAsync(1));
        Assert.Equal(2, Frames - frames);
        // Those that have failed are not asked again.
        Assert.Equal((3 * Many) - 3, await desk.Ask("again"));
        Assert.Equal(["question"], await listeners[3].HeardAsync(1));
    }

    [Fact]
    public async Task The_order_of_one_sender_is_kept_for_each_observer()
    {
        var (desk, listeners) = await SubscribeAsync(20, everywhere: true);
        for (var number = 0; number < 50; number++)
            await desk.TellTwice("a" + number, "b" + number);
        foreach (var listener in listeners)
        {
            Assert.Equal(
                Enumerable.Range(0, 50).SelectMany(static number => new[] { "a" + number, "b" + number }), await listener.HeardAsync(100));
        }
    }

    [Fact]
    public async Task A_call_after_a_notification_does_not_overtake_it()
    {
        var (desk, listeners) = await SubscribeAsync(Many, everywhere: true);
        await desk.TellAndCallLast("first", "second");
        foreach (var listener in listeners)
            Assert.Equal("first", (await listener.HeardAsync(1))[0]);
        Assert.Equal(["first", "second"], await listeners[^1].HeardAsync(2));
    }

    [Fact]
    public async Task A_message_that_the_sender_changes_between_two_observers_reaches_each_as_it_was()
    {
        var (desk, listeners) = await SubscribeAsync(Many);
        var frames = Frames;
        await desk.TellChanging();
        var heard = new List<string>();
        foreach (var listener in listeners)
            heard.AddRange(await listener.HeardAsync(1));
        Assert.Equal(Enumerable.Range(0, Many).Select(static number => "1," + number).Order(), heard.Order());
        // The same content in a changeable object is one frame all the same.
        frames = Frames;
        await desk.TellMutable("same");
        foreach (var listener in listeners)
            Assert.Equal("same", (await listener.HeardAsync(2))[1]);
        Assert.Equal(1, Frames - frames);
    }

    [Fact]
    public async Task Each_observer_gets_an_object_of_its_own()
    {
        var (desk, listeners) = await SubscribeAsync(2);
        await desk.TellMutable("own");
        await listeners[0].HeardAsync(1);
        await listeners[1].HeardAsync(1);
        Assert.NotSame(Assert.Single(listeners[0].Lists), Assert.Single(listeners[1].Lists));
    }

    [Fact]
    public async Task The_request_context_reaches_every_observer()
    {
        var (desk, listeners) = await SubscribeAsync(Many);
        RequestContext.Set("who", "sender");
        try
        {
            await desk.Tell("news");
        }
        finally
        {
            RequestContext.Clear();
        }

        foreach (var listener in listeners)
        {
            await listener.HeardAsync(1);
            Assert.Equal("sender", Assert.Single(listener.Contexts));
        }
    }

    [Fact]
    public async Task An_observer_that_is_gone_fails_alone()
    {
        var (desk, listeners) = await SubscribeAsync(Many);
        cluster.Client.DeleteObjectReference<IListener>((IListener)_kept[^1]);
        Assert.Equal(Many - 1, await desk.Ask("question"));
        foreach (var listener in listeners[..^1])
            Assert.Equal(["question"], await listener.HeardAsync(1));
    }

    [Fact]
    public async Task A_task_of_the_application_sees_the_outcome_of_its_own_observer()
    {
        var (desk, listeners) = await SubscribeAsync(10);
        listeners[4].Fails = true;
        Assert.Equal((9, 1), await desk.AskAndCount("question"));
    }

    [Fact]
    public async Task A_node_of_the_build_before_gets_single_calls()
    {
        var (desk, listeners) = await SubscribeAsync(Many, everywhere: true);
        Publisher.Peers.IsPlayedOld = true;
        var frames = Frames;
        await desk.Tell("news");
        Assert.Equal(3 * Many, await desk.Ask("question"));
        foreach (var listener in listeners)
            Assert.Equal(["news", "question"], await listener.HeardAsync(2));
        Assert.Equal(0, Frames - frames);
    }

    [Fact]
    public async Task Observers_of_a_client_that_is_gone_are_dropped_and_the_others_hear()
    {
        var second = await cluster.Cluster.StartSecondClientAsync();
        var (desk, listeners) = await SubscribeAsync(10);
        var client = second.Services.GetRequiredService<IClusterClient>();
        for (var number = 0; number < 10; number++)
            await desk.Subscribe([Make(client, new Listener())]);
        Assert.Equal(20, await desk.Ask("both"));
        await second.StopAsync();
        second.Dispose();
        Assert.Equal(10, await desk.Ask("one"));
        foreach (var listener in listeners)
            Assert.Equal(["both", "one"], await listener.HeardAsync(2));
    }

    private IListener Make(IGrainFactory factory, Listener listener)
    {
        var reference = factory.CreateObjectReference<IListener>(listener);
        _kept.Add(listener);
        _kept.Add(reference);
        return reference;
    }

    private async Task<(INewsDesk Desk, List<Listener> Listeners)> SubscribeAsync(int count, bool everywhere = false)
    {
        var desk = cluster.Client.GetGrain<INewsDesk>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), () => desk.Subscribe([]));
        IGrainFactory[] factories = everywhere ? [cluster.Client, cluster.ClientOf(1), cluster.ClientOf(0)] : [cluster.Client];
        List<Listener> listeners = [];
        List<IListener> references = [];
        for (var number = 0; number < count; number++)
        {
            foreach (var factory in factories)
            {
                var listener = new Listener();
                listeners.Add(listener);
                references.Add(Make(factory, listener));
            }
        }

        await desk.Subscribe([.. references]);
        return (desk, listeners);
    }

    private long Read(string name)
    {
        var meter = Publisher.Metrics.Meter;
        long value = 0;
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, self) =>
            {
                if (ReferenceEquals(instrument.Meter, meter) && instrument.Name == name)
                    self.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>((_, measured, _, _) => value += measured);
        listener.Start();
        listener.RecordObservableInstruments();
        return value;
    }

    public interface IListener : IGrainObserver
    {
        void Hear(Story story);

        void HearList(List<string> texts);

        Task Answer(string text);
    }

    public interface INewsDesk : IGrainWithGuidKey
    {
        Task Subscribe(IListener[] listeners);

        Task Tell(string text);

        Task TellTwice(string first, string second);

        Task TellAndCallLast(string all, string last);

        Task TellChanging();

        Task TellMutable(string text);

        Task<int> Ask(string text);

        Task<(int Succeeded, int Failed)> AskAndCount(string text);
    }

    /// <summary>What is told; counts how often it is encoded.</summary>
    [GenerateSerializer]
    [Immutable]
    public sealed class Story
    {
        private static int s_encoded;

        [NonSerialized]
        private string _text = "";

        public static int Encoded => Volatile.Read(ref s_encoded);

        [Id(0)]
        public string Text
        {
            get
            {
                Interlocked.Increment(ref s_encoded);
                return _text;
            }
            set => _text = value;
        }

        /// <summary>Without being counted.</summary>
        public string Told => _text;
    }

    public sealed class Listener : IListener
    {
        private readonly ConcurrentQueue<string> _heard = new();
        private readonly SemaphoreSlim _arrived = new(0);
        private int _taken;

        public bool Fails { get; set; }

        public ConcurrentQueue<List<string>> Lists { get; } = new();

        public ConcurrentQueue<object?> Contexts { get; } = new();

        public void Hear(Story story)
        {
            Contexts.Enqueue(RequestContext.Get("who"));
            Add(story.Told);
        }

        public void HearList(List<string> texts)
        {
            Lists.Enqueue(texts);
            Add(string.Join(',', texts));
        }

        public Task Answer(string text)
        {
            Add(text);
            return Fails ? throw new InvalidOperationException("as told") : Task.CompletedTask;
        }

        /// <summary>What it has heard, when that is so much.</summary>
        public async Task<string[]> HeardAsync(int count)
        {
            for (; _taken < count; _taken++)
                Assert.True(await _arrived.WaitAsync(Gate.Patience), "An observer has heard " + _taken + " of " + count + " messages.");
            return [.. _heard];
        }

        private void Add(string text)
        {
            _heard.Enqueue(text);
            _arrived.Release();
        }
    }

    public sealed class NewsDeskGrain : Grain, INewsDesk
    {
        private readonly ObserverManager<IListener> _listeners = new(TimeSpan.FromHours(1), NullLogger.Instance);
        private IListener? _last;

        public Task Subscribe(IListener[] listeners)
        {
            foreach (var listener in listeners)
                _listeners.Subscribe(listener, _last = listener);
            return Task.CompletedTask;
        }

        public Task Tell(string text)
        {
            var story = new Story { Text = text };
            _listeners.Notify(listener => listener.Hear(story));
            return Task.CompletedTask;
        }

        public Task TellTwice(string first, string second)
        {
            var (one, two) = (new Story { Text = first }, new Story { Text = second });
            _listeners.Notify(listener =>
            {
                listener.Hear(one);
                listener.Hear(two);
            });
            return Task.CompletedTask;
        }

        public Task TellAndCallLast(string all, string last)
        {
            var story = new Story { Text = all };
            _listeners.Notify(listener => listener.Hear(story));
            _last!.Hear(new Story { Text = last });
            return Task.CompletedTask;
        }

        public Task TellChanging()
        {
            List<string> texts = ["1", ""];
            var number = 0;
            _listeners.Notify(listener =>
            {
                texts[1] = number++.ToString();
                listener.HearList(texts);
            });
            return Task.CompletedTask;
        }

        public Task TellMutable(string text)
        {
            List<string> texts = [text];
            _listeners.Notify(listener => listener.HearList(texts));
            texts.Add("changed afterwards");
            return Task.CompletedTask;
        }

        public async Task<int> Ask(string text)
        {
            await _listeners.Notify(listener => listener.Answer(text));
            return _listeners.Count;
        }

        public async Task<(int Succeeded, int Failed)> AskAndCount(string text)
        {
            var (succeeded, failed) = (0, 0);
            await _listeners.Notify(async listener =>
            {
                try
                {
                    await listener.Answer(text);
                    succeeded++;
                }
                catch (InvalidOperationException)
                {
                    failed++;
                }
            });
            return (succeeded, failed);
        }
    }
}
