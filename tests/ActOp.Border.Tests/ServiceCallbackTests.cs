using ActOp.Foundation;
using ActOp.Locality;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Logging;
using Orleans.BroadcastChannel;
using Orleans.GrainReferences;
using Orleans.LeaseProviders;
using Orleans.Placement.Rebalancing;
using Orleans.Placement.Repartitioning;
using Orleans.Providers;
using Orleans.Runtime.GrainDirectory;
using Orleans.Runtime.Messaging;
using Orleans.Services;
using Orleans.Statistics;
using Orleans.Streams;
using Orleans.Versions.Compatibility;
using Orleans.Versions.Selector;
using static ActOp.Border.Tests.Deed;

namespace ActOp.Border.Tests;

/// <summary>
/// Services of the application that do wrong: whoever needs their answer gets one that says what happened, other grains answer meanwhile,
/// afterwards everything works, and the log has a few lines.
/// </summary>
[Collection(nameof(Mischief))]
public class ServiceCallbackTests(TroubledServices cluster) : IClassFixture<TroubledServices>
{
    private static readonly Deed[] OfTask = [Throws, Fails, Hangs, ReturnsNull];

    internal static readonly Service[] All =
    [
        new("mapper of channels", PublishAsync, [Throws, ReturnsNull], typeof(IChannelIdMapper)),
        new("predicate of channels", PublishAsync, [Throws], typeof(IChannelNamespacePredicate), typeof(IChannelNamespacePredicateProvider)),
        new("subscription to a channel", PublishAsync, [.. OfTask, DoesNothing], typeof(IOnBroadcastChannelSubscribed)),
        new("item of a channel", PublishAsync, OfTask),
        new("command", static (cluster, _) => cluster.Client.GetGrain<IManagementGrain>(0).SendControlCommandToProvider<IControllable>(
            "commands", 1), OfTask, typeof(IControllable)),
        new("overload detector", AskAsync, [Throws, Hangs], typeof(IOverloadDetector)),
        new("statistics", AskAsync, [Throws, ReturnsForeign], typeof(IEnvironmentStatisticsProvider)),
        new("write of a reminder", static (cluster, key) => Grain(cluster, key).Remind(), OfTask, typeof(IReminderTable)),
        new("rows of reminders", AskAsync, [.. OfTask, ReturnsForeign]),
        new("grain service", static (cluster, key) => Grain(cluster, key).Serve(), OfTask, typeof(IGrainService)),
        new("version selector", VersionedAsync, [Throws, ReturnsNull, ReturnsForeign], typeof(IVersionSelector)) { IsAskedOnce = true },
        new("compatibility director", VersionedAsync, [Throws], typeof(ICompatibilityDirector)) { IsAskedOnce = true },
        new("directory cache", AskAsync, [Throws, ReturnsNull, ReturnsForeign], typeof(IGrainDirectoryCache)) { IsAskedOnce = true },
        new("provider of references", static (cluster, key) => Grain(cluster, key).Refer(), [Throws],
            typeof(IGrainReferenceActivatorProvider)) { IsAskedOnce = true },
        new("maker of references", static (cluster, key) => Grain(cluster, key).ReferToMade(), [Throws, ReturnsNull],
            typeof(IGrainReferenceActivator)) { IsAskedOnce = true },
        new("leases", static (cluster, _) => TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(!Leased(cluster).GetMyQueues().Any()), Gate.Patience, TimeSpan.FromMilliseconds(20)),
            [.. OfTask, ReturnsForeign], typeof(ILeaseProvider)),
    ];

    /// <summary>Those with tests of their own.</summary>
    internal static readonly Type[] Others =
    [
        typeof(ISiloStatusListener), typeof(IActivationRebalancerReportListener), typeof(IFatalErrorHandler),
        typeof(IImbalanceToleranceRule),
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
    public async Task What_a_service_does_wrong_hurts_nobody_who_does_not_ask_it(string name, int index, Deed deed)
    {
        var key = "bad " + name + deed;
        await OthersAnswerAsync(key + " before");
        var lines = cluster.Log.Lines(LogLevel.Warning).Length;
        using (var planned = Mischief.Plan(name, deed))
        {
            var asking = Record.ExceptionAsync(() => All[index].Ask(cluster, key).WaitAsync(Gate.Patience));
            if (!All[index].IsAskedOnce)
                await planned.Acted.WaitAsync(Gate.Patience);
            await OthersAnswerAsync(key + " meanwhile");
            var answer = await asking;
            Assert.False(answer is NullReferenceException or ArgumentNullException, answer?.ToString());
        }

        await OthersAnswerAsync(key + " later");
        await All[index].After(cluster, key + " again").WaitAsync(Gate.Patience);
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(Leased(cluster).GetMyQueues().Count() == 2), Gate.Patience, TimeSpan.FromMilliseconds(20));
        // A busy machine delays grains with reminders of a short period: those lines are about the grains.
        var told = cluster.Log.Lines(LogLevel.Warning)[lines..]
            .Where(static line => !line.Contains("A tick of the reminder", StringComparison.Ordinal)).ToArray();
        Assert.True(told.Length <= 60, told.Length + " lines, such as " + string.Join('\n', told.Take(10)));
    }

    [Theory]
    [InlineData(Throws)]
    [InlineData(Hangs)]
    public async Task A_listener_that_does_wrong_keeps_nothing_from_the_others(Deed deed)
    {
        using var planned = Mischief.Plan("listener", deed);
        var heard = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        var bad = new ListenerQueue<int>(
            static _ =>
            {
                Mischief.Act("listener");
                if (Mischief.DeedOf("listener") is Hangs)
                    Mischief.Hold();
            }, static _ => { });
        var good = new ListenerQueue<int>(heard.SetResult, static _ => { });
        for (var change = 0; change < 5000; change++)
            bad.Tell(change);
        await planned.Acted.WaitAsync(Gate.Patience);
        good.Tell(3);
        Assert.Equal(3, await heard.Task.WaitAsync(Gate.Patience));
    }

    [Fact]
    public async Task A_fatal_error_handler_that_throws_or_hangs_does_not_hold_whoever_tells_it()
    {
        foreach (var deed in new[] { Throws, Hangs })
        {
            using var planned = Mischief.Plan("fatal error handler", deed);
            using var services = new ServiceCollection().AddSingleton<IFatalErrorHandler, Fatal>().BuildServiceProvider();
            var local = cluster.Cluster.Silos[0].ServiceProvider.GetRequiredService<Node>().Local;
            ActOp.Hosting.Health.FatalErrors.Tell(services, local, "test");
            await planned.Acted.WaitAsync(Gate.Patience);
        }
    }

    [Fact]
    public void A_tolerance_rule_that_throws_is_logged_a_few_times_and_the_options_hold()
    {
        var failures = 0;
        var band = new ImbalanceBand(new Rule(), _ => failures++);
        for (var round = 0; round < 500; round++)
            Assert.Null(band.ToleranceAt(100));
        Assert.Equal(3, failures);
    }

    [Fact]
    public async Task An_observer_of_a_lifecycle_that_ignores_its_token_is_left_behind()
    {
        var clock = new FakeClock();
        var lifecycle = new SiloLifecycle { Time = clock };
        var others = 0;
        lifecycle.Subscribe("hangs", 2, static _ => Task.CompletedTask, static _ => new TaskCompletionSource().Task);
        lifecycle.Subscribe("other", 1, static _ => Task.CompletedTask, _ =>
        {
            others++;
            return Task.CompletedTask;
        });
        await lifecycle.OnStart();
        using var stop = new CancellationTokenSource();
        var stopping = lifecycle.OnStop(stop.Token);
        stop.Cancel();
        await clock.TimerSetAsync(TimeSpan.FromSeconds(5)).WaitAsync(Gate.Patience);
        clock.Advance(TimeSpan.FromSeconds(5));
        var failure = await Assert.ThrowsAsync<AggregateException>(() => stopping.WaitAsync(Gate.Patience));
        Assert.Contains("hangs", failure.InnerException!.Message, StringComparison.Ordinal);
        Assert.Equal(1, others);
    }

    /// <summary>Its first answer of all: no right one is remembered.</summary>
    [Theory, InlineData(ReturnsForeign), InlineData(ReturnsNull), InlineData(DoesNothing)]
    public async Task A_version_selector_that_answered_wrongly_once_is_asked_again(Deed deed)
    {
        await using var fresh = new TroubledServices();
        await fresh.InitializeAsync();
        using (Mischief.Plan("version selector", deed))
        {
            var exception = await Assert.ThrowsAsync<OrleansException>(() => VersionedAsync(fresh, "first"));
            Assert.Contains(
                deed is DoesNothing ? "No active silo can run" : "The version selector ", exception.Message, StringComparison.Ordinal);
        }

        await VersionedAsync(fresh, "second");
    }

    private static IServiceTrouble Grain(TroubledServices cluster, string key) => cluster.Client.GetGrain<IServiceTrouble>(key);

    private static IStreamQueueBalancer Leased(TroubledServices cluster) =>
        cluster.Cluster.Silos[0].ServiceProvider.GetRequiredKeyedService<IStreamQueueBalancer>("leased");

    private static Task AskAsync(TroubledServices cluster, string key) => Grain(cluster, key).Ask();

    private static Task VersionedAsync(TroubledServices cluster, string key) =>
        cluster.ClientOf(0).GetGrain<IVersionedTrouble>(key).Ask();

    /// <summary>The other class of the channel gets the item, also if one is in trouble.</summary>
    private static async Task PublishAsync(TroubledServices cluster, string key)
    {
        var box = Box.New();
        var writer = cluster.ClientOf(0).ServiceProvider.GetRequiredKeyedService<IBroadcastChannelProvider>("channel").GetChannelWriter<string>(
            ChannelId.Create("troubled channel " + key, key));
        var publishing = writer.Publish(box.Name);
        await box.ReceivedAsync(1);
        await publishing;
    }

    /// <summary>A new grain answers, and a reminder ticks.</summary>
    private async Task OthersAnswerAsync(string key)
    {
        await Grain(cluster, "calm " + key).Ask().WaitAsync(Gate.Patience);
        await Grain(cluster, "calm " + key).Remind().WaitAsync(Gate.Patience);
        await ServiceTrouble.Ticks.GetOrAdd("calm " + key, static _ => new TaskCompletionSource()).Task.WaitAsync(Gate.Patience);
    }

    internal sealed record Service(string Name, Func<TroubledServices, string, Task> Ask, Deed[] Deeds, params Type[] Types)
    {
        /// <summary>Its answers are kept, so that it may not be asked again.</summary>
        internal bool IsAskedOnce { get; init; }

        /// <summary>What works when the trouble is over.</summary>
        internal Func<TroubledServices, string, Task> After => Name is "leases" or "maker of references" ? AskAsync : Ask;
    }

    private sealed class Fatal : IFatalErrorHandler
    {
        public bool IsUnexpected(Exception exception) => true;

        public void OnFatalException(object? sender, string? context, Exception? exception)
        {
            Mischief.Act("fatal error handler");
            Mischief.Hold();
        }
    }

    private sealed class Rule : IImbalanceToleranceRule
    {
        public bool IsSatisfiedBy(uint imbalance) => throw new FormatException(Mischief.Word);
    }
}
