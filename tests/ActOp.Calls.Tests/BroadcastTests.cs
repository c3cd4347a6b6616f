using System.Diagnostics.Metrics;
using ActOp.Channels;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Orleans.Concurrency;

namespace ActOp.Calls.Tests;

/// <summary>A call of many grains is one frame for each silo, and brings each what a call of its own would bring.</summary>
public sealed class BroadcastTests(TwoSilos cluster) : IClassFixture<TwoSilos>, IDisposable
{
    /// <summary>More than one step delivers.</summary>
    private const int Many = 400;

    private static int s_keys;

    private Node Caller => cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private long Frames => Read("actop.fanout.frames");

    private long Receivers => Read("actop.fanout.receivers");

    public void Dispose() => Caller.Peers.IsPlayedOld = false;

    [Fact]
    public async Task A_broadcast_is_one_frame_for_the_grains_of_another_silo_and_is_encoded_once()
    {
        var (caller, keys) = await MakeAsync(Many, here: 10);
        var (frames, receivers, before) = (Frames, Receivers, Note.Encoded);
        await caller.Tell(keys, "news");
        Assert.Equal(1, Frames - frames);
        Assert.Equal(Many, Receivers - receivers);
        Assert.Equal(1, Note.Encoded - before);
        await AllHave(keys, "news");
    }

    [Fact]
    public async Task Grains_without_an_activation_are_activated_by_single_calls()
    {
        var caller = await CallerAsync();
        var keys = NewKeys(50);
        await caller.Tell(keys, "first");
        await caller.Tell(keys, "second");
        await AllHave(keys, "first", "second");
    }

    [Fact]
    public async Task Each_grain_fails_for_itself_and_the_exception_names_it()
    {
        var (caller, keys) = await MakeAsync(Many, here: 10);
        string[] failing = [keys[0], keys[Many / 2], keys[^1]];
        var failed = await caller.TellAndFail(keys, "question", failing);
        Assert.Equal(failing.Order(), failed.Order());
        await AllHave(keys, "question");
    }

    [Fact]
    public async Task An_exception_that_travels_says_which_grains_have_failed_first()
    {
        var (caller, keys) = await MakeAsync(3, here: 1);
        var thrown = await Assert.ThrowsAsync<BroadcastException>(() => caller.TellOrThrow(keys, "question", [keys[1]]));
        Assert.Contains(keys[1], thrown.Message);
        Assert.Contains("1 of 4", thrown.Message);
        Assert.IsType<InvalidOperationException>(Assert.Single(Assert.IsType<AggregateException>(thrown.InnerException).InnerExceptions));
        Assert.Empty(thrown.Failures);
    }

    [Fact]
    public async Task The_order_of_one_caller_is_kept_for_each_grain()
    {
        var (caller, keys) = await MakeAsync(20, here: 5);
        await caller.TellTwiceAndCallLast(keys, 50);
        string[] all = [.. Enumerable.Range(0, 50).SelectMany(static number => new[] { "a" + number, "b" + number, "c" + number })];
        Assert.Equal(all, await Grain(keys[19]).Heard());
        string[] ofOthers = [.. all.Where(static text => text[0] != 'c')];
        Assert.Equal(ofOthers, await Grain(keys[0]).Heard());
        Assert.Equal(ofOthers, await Grain(keys[^1]).Heard());
    }

    [Fact]
    public async Task Grains_that_have_gone_since_are_called_where_they_are_now()
    {
        var (caller, keys) = await MakeAsync(Many, here: 0);
        var receivers = Receivers;
        await Task.WhenAll(keys.Select(key => Grain(key).Leave()));
        // The caller's silo still believes that they are where they were: their requests come in one frame, and are routed on from there.
        await caller.Tell(keys, "found");
        Assert.True(Receivers > receivers);
        await AllHave(keys, "found");
    }

    [Fact]
    public async Task An_asynchronous_delegate_sees_the_result_of_its_own_grain()
    {
        var (caller, keys) = await MakeAsync(30, here: 3);
        var frames = Frames;
        Assert.Equal(keys.Order(), (await caller.AskNames(keys)).Order());
        Assert.Equal(1, Frames - frames);
    }

    [Fact]
    public async Task One_way_calls_are_one_frame_too()
    {
        var (caller, keys) = await MakeAsync(Many, here: 10);
        var frames = Frames;
        await caller.Post(keys, "posted");
        // A call after them does not overtake them.
        await AllHave(caller, keys, "posted");
        Assert.Equal(1, Frames - frames);
    }

    [Fact]
    public async Task A_message_that_the_caller_changes_between_two_grains_reaches_each_as_it_was()
    {
        var (caller, keys) = await MakeAsync(10, here: 2);
        await caller.TellChanging(keys);
        for (var index = 0; index < keys.Length; index++)
            Assert.Equal(["1," + index], await Grain(keys[index]).Heard());
    }

    [Fact]
    public async Task A_grain_that_is_called_by_its_usual_reference_within_a_broadcast_gets_a_call_of_its_own()
    {
        var (caller, keys) = await MakeAsync(5, here: 0);
        Assert.Equal(5, await caller.TellBeside(keys));
        await AllHave(keys, "beside");
    }

    [Fact]
    public async Task A_silo_of_the_build_before_gets_single_calls()
    {
        var (caller, keys) = await MakeAsync(Many, here: 10);
        Caller.Peers.IsPlayedOld = true;
        var frames = Frames;
        await caller.Tell(keys, "old");
        Assert.Equal(0, Frames - frames);
        await AllHave(keys, "old");
    }

    [Fact]
    public async Task A_client_calls_many_grains_by_single_calls()
    {
        var keys = NewKeys(50);
        await cluster.Client.Broadcast<IListeningGrain>(keys, grain => grain.Hear(new Note { Text = "from a client" }));
        await AllHave(keys, "from a client");
        var thrown = await Assert.ThrowsAsync<BroadcastException>(() =>
            cluster.Client.Broadcast<IListeningGrain>(keys, grain => grain.Answer("question", [keys[7]])));
        Assert.Equal(keys[7], Assert.Single(thrown.Failures).Grain.Key.ToString());
    }

    [Fact]
    public async Task A_list_with_a_null_calls_nobody()
    {
        var key = NewKeys(1)[0];
        var thrown = await Assert.ThrowsAsync<ArgumentException>(() =>
            cluster.Client.Broadcast([Grain(key), null!], static grain => grain.Hear(new Note { Text = "none" })));
        Assert.Equal("receivers", thrown.ParamName);
        Assert.Empty(await Grain(key).Heard());
    }

    [Fact]
    public async Task A_delegate_that_throws_fails_its_own_grain_and_objects_that_are_no_references_are_called_as_they_are()
    {
        var key = NewKeys(1)[0];
        var stub = new Stub();
        IListeningGrain[] receivers = [stub, Grain(key)];
        var thrown = await Assert.ThrowsAsync<BroadcastException>(() => cluster.Client.Broadcast(receivers, grain =>
            ReferenceEquals(grain, stub) ? throw new NotSupportedException("as told") : grain.Hear(new Note { Text = "other" })));
        Assert.IsType<NotSupportedException>(Assert.Single(thrown.Failures).Exception);
        await AllHave([key], "other");
    }

    private static string[] NewKeys(int count) =>
        [.. Enumerable.Range(0, count).Select(static _ => "k" + Interlocked.Increment(ref s_keys))];

    private IListeningGrain Grain(string key) => cluster.Client.GetGrain<IListeningGrain>(key);

    private async Task<IBroadcaster> CallerAsync()
    {
        var caller = cluster.Client.GetGrain<IBroadcaster>(Guid.NewGuid());
        await Place.On(cluster.AddressOf(0), () => caller.Tell([], ""));
        return caller;
    }

    /// <summary>A caller on the first silo that knows where its grains are: some on the other silo, then some on its own.</summary>
    private async Task<(IBroadcaster Caller, string[] Keys)> MakeAsync(int there, int here)
    {
        var caller = await CallerAsync();
        var keys = NewKeys(there + here);
        await Place.On(cluster.AddressOf(1), () => Task.WhenAll(keys[..there].Select(key => Grain(key).Heard())));
        await Place.On(cluster.AddressOf(0), () => Task.WhenAll(keys[there..].Select(key => Grain(key).Heard())));
        await caller.AskNames(keys);
        return (caller, keys);
    }

    private Task AllHave(string[] keys, params string[] texts) => AllHave(null, keys, texts);

    private async Task AllHave(IBroadcaster? through, string[] keys, params string[] texts)
    {
        foreach (var key in keys)
            Assert.Equal(texts, await (through is null ? Grain(key).Heard() : through.HeardBy(key)));
    }

    private long Read(string name)
    {
        var meter = Caller.Metrics.Meter;
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

    public interface IListeningGrain : IGrainWithStringKey
    {
        Task Hear(Note note);

        Task HearList(List<string> texts);

        [OneWay]
        Task Post(Note note);

        Task Answer(string text, string[] failing);

        Task<string> Name();

        Task<string[]> Heard();

        Task Leave();
    }

    public interface IBroadcaster : IGrainWithGuidKey
    {
        Task Tell(string[] keys, string text);

        Task Post(string[] keys, string text);

        Task TellTwiceAndCallLast(string[] keys, int times);

        Task TellChanging(string[] keys);

        Task<int> TellBeside(string[] keys);

        Task<string[]> TellAndFail(string[] keys, string text, string[] failing);

        Task TellOrThrow(string[] keys, string text, string[] failing);

        Task<List<string>> AskNames(string[] keys);

        Task<string[]> HeardBy(string key);
    }

    /// <summary>What is told; counts how often it is encoded.</summary>
    [GenerateSerializer]
    [Immutable]
    public sealed class Note
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

    public sealed class ListeningGrain : Grain, IListeningGrain
    {
        private readonly List<string> _heard = [];

        public Task Hear(Note note)
        {
            _heard.Add(note.Told);
            return Task.CompletedTask;
        }

        public Task HearList(List<string> texts)
        {
            _heard.Add(string.Join(',', texts));
            return Task.CompletedTask;
        }

        public Task Post(Note note) => Hear(note);

        public Task Answer(string text, string[] failing)
        {
            _heard.Add(text);
            return failing.Contains(this.GetPrimaryKeyString()) ? throw new InvalidOperationException("as told") : Task.CompletedTask;
        }

        public Task<string> Name() => Task.FromResult(this.GetPrimaryKeyString());

        public Task<string[]> Heard() => Task.FromResult(_heard.ToArray());

        public Task Leave()
        {
            DeactivateOnIdle();
            return Task.CompletedTask;
        }
    }

    public sealed class BroadcasterGrain : Grain, IBroadcaster
    {
        public Task Tell(string[] keys, string text)
        {
            var note = new Note { Text = text };
            return GrainFactory.Broadcast<IListeningGrain>(keys, grain => grain.Hear(note));
        }

        public Task Post(string[] keys, string text)
        {
            var note = new Note { Text = text };
            return GrainFactory.Broadcast<IListeningGrain>(keys, grain => grain.Post(note));
        }

        public async Task TellTwiceAndCallLast(string[] keys, int times)
        {
            var receivers = keys.Select(key => GrainFactory.GetGrain<IListeningGrain>(key)).ToArray();
            List<Task> calls = [];
            for (var number = 0; number < times; number++)
            {
                var (one, two) = (new Note { Text = "a" + number }, new Note { Text = "b" + number });
                calls.Add(GrainFactory.Broadcast(receivers, grain => Task.WhenAll(grain.Hear(one), grain.Hear(two))));
                calls.Add(receivers[19].Hear(new Note { Text = "c" + number }));
            }

            await Task.WhenAll(calls);
        }

        public Task TellChanging(string[] keys)
        {
            List<string> texts = ["1", ""];
            var number = 0;
            return GrainFactory.Broadcast<IListeningGrain>(keys, grain =>
            {
                texts[1] = number++.ToString();
                return grain.HearList(texts);
            });
        }

        public async Task<int> TellBeside(string[] keys)
        {
            var (note, called) = (new Note { Text = "beside" }, 0);
            await GrainFactory.Broadcast<IListeningGrain>(keys, grain =>
            {
                called++;
                return GrainFactory.GetGrain<IListeningGrain>(grain.GetPrimaryKeyString()).Hear(note);
            });
            return called;
        }

        public async Task<string[]> TellAndFail(string[] keys, string text, string[] failing)
        {
            try
            {
                await GrainFactory.Broadcast<IListeningGrain>(keys, grain => grain.Answer(text, failing));
                return [];
            }
            catch (BroadcastException exception)
            {
                return [.. exception.Failures.Select(static failure => failure.Grain.Key.ToString()!)];
            }
        }

        public Task TellOrThrow(string[] keys, string text, string[] failing) =>
            GrainFactory.Broadcast<IListeningGrain>(keys, grain => grain.Answer(text, failing));

        public async Task<List<string>> AskNames(string[] keys)
        {
            List<string> names = [];
            await GrainFactory.Broadcast<IListeningGrain>(keys, async grain => names.Add(await grain.Name()));
            return names;
        }

        public Task<string[]> HeardBy(string key) => GrainFactory.GetGrain<IListeningGrain>(key).Heard();
    }

    /// <summary>Stands for a grain in a test of an application.</summary>
    private sealed class Stub : IListeningGrain
    {
        public Task Hear(Note note) => Task.CompletedTask;

        public Task HearList(List<string> texts) => Task.CompletedTask;

        public Task Post(Note note) => Task.CompletedTask;

        public Task Answer(string text, string[] failing) => Task.CompletedTask;

        public Task<string> Name() => Task.FromResult("");

        public Task<string[]> Heard() => Task.FromResult<string[]>([]);

        public Task Leave() => Task.CompletedTask;
    }
}
