using System.Diagnostics.Metrics;
using ActOp.TestClusters;
using Orleans.Streams;

namespace ActOp.Calls.Tests;

/// <summary>What happens is counted under the names of Orleans.</summary>
[Collection(nameof(Alone))]
public class OrleansMeterTests(OrleansMeterTests.Counted cluster) : IClassFixture<OrleansMeterTests.Counted>
{
    [Fact]
    public async Task What_happens_to_grains_is_counted()
    {
        var before = Read();
        for (var key = 0; key < 40; key++)
            await cluster.Client.GetGrain<IMeteredGrain>(key).Wait(CancellationToken.None);
        await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Client.GetGrain<IMeteredGrain>(-1).Wait(CancellationToken.None));
        using (var gate = new Gate())
        {
            using var cancellation = new CancellationTokenSource();
            var cancelled = cluster.Client.GetGrain<IMeteredGrain>(1).Pass(gate.Name, cancellation.Token);
            await gate.ArrivedAsync();
            await cancellation.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        }

        await cluster.Client.GetGrain<IMeteredGrain>(2).End();
        await cluster.Client.GetGrain<IMeteredGrain>(2).Wait(CancellationToken.None);
        var grown = Read().Where(one => one.Value > before.GetValueOrDefault(one.Key)).Select(static one => one.Key).ToHashSet();
        Assert.Superset(
            new HashSet<string>
            {
                "orleans-app-requests-canceled",
                "orleans-catalog-activation-failed-to-activate",
                "orleans-directory-lookups-full-issued",
                "orleans-directory-lookups-local-directory-issued",
                "orleans-directory-lookups-remote-sent",
                "orleans-directory-registrations-single-act-issued",
                "orleans-directory-registrations-single-act-local",
                "orleans-directory-registrations-single-act-remote-sent",
                "orleans-directory-unregistrations-issued",
                "orleans-messaging-processing-dispatcher-forwarded",
                "orleans-messaging-sent-messages-size",
                "orleans-messaging-received-messages-size",
            },
            grown);
        Assert.True(Read()["orleans-networking-sockets-opened"] > 0);
        Assert.True(Read()["orleans-system-targets"] > 0);
        Assert.True(Read()["orleans-runtime-total-physical-memory"] > 0);
    }

    [Fact]
    public async Task What_streams_do_is_counted()
    {
        var before = Read();
        using var gate = new Gate();
        var stream = cluster.Client.GetStreamProvider("metered").GetStream<string>("metered", Guid.NewGuid());
        var subscription = await stream.SubscribeAsync((item, _) => Gate.PassAsync(item));
        gate.Open();
        await stream.OnNextAsync(gate.Name);
        await gate.ArrivedAsync();
        await subscription.UnsubscribeAsync();
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Read()["orleans-streams-persistent-stream-messages-sent"]
                > before["orleans-streams-persistent-stream-messages-sent"]),
            Gate.Patience);
        var after = Read();
        foreach (var name in new[] { "persistent-stream-messages-read", "pubsub-consumers-added", "pubsub-consumers-removed" })
            Assert.True(after["orleans-streams-" + name] > before["orleans-streams-" + name], name);
        Assert.True(after["orleans-streams-persistent-stream-pulling-agents"] > 0);
    }

    private static Dictionary<string, double> Read()
    {
        var sums = new Dictionary<string, double>();
        using var listener = new MeterListener
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name == "Microsoft.Orleans")
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, _, _) => Add(instrument, value));
        listener.SetMeasurementEventCallback<int>((instrument, value, _, _) => Add(instrument, value));
        listener.Start();
        listener.RecordObservableInstruments();
        return sums;

        void Add(Instrument instrument, double value)
        {
            lock (sums)
                sums[instrument.Name] = sums.GetValueOrDefault(instrument.Name) + value;
        }
    }

    public sealed class Counted() : ClusterFixture(2)
    {
        protected override void ConfigureSilo(ISiloBuilder silo) =>
            silo.AddMemoryStreams("metered").AddMemoryGrainStorage("PubSubStore");

        protected override void ConfigureClient(IClientBuilder client) => client.AddMemoryStreams("metered");
    }

    public interface IMeteredGrain : IGrainWithIntegerKey
    {
        Task Wait(CancellationToken cancellationToken);

        Task Pass(string gate, CancellationToken cancellationToken);

        Task End();
    }

    public sealed class MeteredGrain : Grain, IMeteredGrain
    {
        public override Task OnActivateAsync(CancellationToken cancellationToken) =>
            this.GetPrimaryKeyLong() < 0 ? throw new InvalidOperationException("start") : Task.CompletedTask;

        public Task Wait(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task Pass(string gate, CancellationToken cancellationToken) => Gate.PassAsync(gate).WaitAsync(cancellationToken);

        public Task End()
        {
            DeactivateOnIdle();
            return Task.CompletedTask;
        }
    }
}
