using System.Diagnostics.Metrics;
using ActOp.Configuration;
using ActOp.Groups;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.TestingHost;

namespace ActOp.Hosting.Tests.Groups;

/// <summary>Groups of grains in a silo: who is in which, limits, and wrong options.</summary>
public class GroupsTests
{
    [Fact]
    public async Task A_grain_is_in_the_group_that_the_delegate_names_or_in_that_of_its_class_or_in_the_default_group()
    {
        await using var cluster = Cluster(static groups => groups.Add("batch").Add("acme").Select = static (grain, context) =>
            context?.TryGetValue("tenant", out var tenant) == true ? (string)tenant
            : grain.Key.ToString() == "of-acme" ? "acme" : null);
        await cluster.DeployAsync();
        var silo = Silo(cluster);
        Assert.Equal("default", await GroupOfAsync(silo, silo.Factory.GetGrain<IPlain>("any")));
        Assert.Equal("acme", await GroupOfAsync(silo, silo.Factory.GetGrain<IPlain>("of-acme")));
        Assert.Equal("batch", await GroupOfAsync(silo, silo.Factory.GetGrain<IBatch>("any")));
        RequestContext.Set("tenant", "acme");
        Assert.Equal("acme", await GroupOfAsync(silo, silo.Factory.GetGrain<IBatch>("by context")));
        RequestContext.Clear();
        Assert.Equal(2, GroupOf(silo, "acme").Activations);
        // The first turn has chosen the group; the next one uses its time.
        await silo.Factory.GetGrain<IPlain>("of-acme").Run(null);
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(GroupOf(silo, "acme").Used > 0), Gate.Patience, TimeSpan.FromMilliseconds(1));
    }

    [Fact]
    public async Task A_delegate_that_throws_or_names_an_unknown_group_leaves_the_grain_in_the_group_of_its_class()
    {
        var log = new LogCapture();
        await using var cluster = Cluster(
            static groups => groups.Add("batch").Select = static (grain, _) => grain.Key.ToString() switch
            {
                "throw" => throw new FormatException("no"),
                "unknown" or "unknown too" => "nobody",
                _ => null,
            },
            log);
        await cluster.DeployAsync();
        var silo = Silo(cluster);
        Assert.Equal("batch", await GroupOfAsync(silo, silo.Factory.GetGrain<IBatch>("throw")));
        Assert.Equal("default", await GroupOfAsync(silo, silo.Factory.GetGrain<IPlain>("unknown")));
        Assert.Equal("default", await GroupOfAsync(silo, silo.Factory.GetGrain<IPlain>("unknown too")));
        Assert.Equal(3, silo.Stages.Groups!.SelectorFailures);
        var lines = log.Lines(LogLevel.Warning)
            .Where(static line => line.Contains("GroupsOptions.Select", StringComparison.Ordinal)).ToArray();
        Assert.Equal(2, lines.Length);
        Assert.Contains(lines, static line => line.Contains("has thrown", StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.Contains("\"nobody\"", StringComparison.Ordinal));
    }

    [Theory, InlineData(false), InlineData(true)]
    public async Task Calls_beyond_the_rate_of_a_group_are_refused_and_the_caller_is_told_when_to_try_again(bool withDelegate)
    {
        var clock = new FakeClock();
        await using var cluster = Cluster(
            groups =>
            {
                groups.Add("batch", static batch => batch.MaxCallsPerSecond = 4);
                if (withDelegate)
                    groups.Select = static (_, _) => null;
            },
            services: services => services.AddSingleton<TimeProvider>(clock));
        await cluster.DeployAsync();
        // From a client: the details travel.
        var grain = cluster.Client.GetGrain<IBatch>("limited");
        for (var call = 0; call < 4; call++)
            await grain.Run(null);
        var refusal = await Assert.ThrowsAsync<GroupOverloadedException>(() => grain.Run(null));
        Assert.Equal(("batch", "MaxCallsPerSecond"), (refusal.Group, refusal.Limit));
        Assert.InRange(refusal.RetryAfter, TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(250));
        await cluster.Client.GetGrain<IPlain>("other").Run(null);
        clock.Advance(refusal.RetryAfter);
        await grain.Run(null);
        Assert.Equal(1, GroupOf(Silo(cluster), "batch").Refused(GroupLimit.CallsPerSecond));
    }

    [Fact]
    public async Task Requests_beyond_the_limit_of_a_group_are_refused_and_room_returns_when_they_have_run()
    {
        await using var cluster = Cluster(static groups => groups.Add("batch", static batch => batch.MaxQueued = 5));
        await cluster.DeployAsync();
        var silo = Silo(cluster);
        using var gate = new Gate();
        // Joins the group with its first turn.
        await silo.Factory.GetGrain<IBatch>("a").Run(null);
        await silo.Factory.GetGrain<IBatch>("b").Run(null);
        var running = silo.Factory.GetGrain<IBatch>("a").Run(gate.Name);
        await gate.ArrivedAsync();
        var batch = GroupOf(silo, "batch");
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(batch.Queued == 0), Gate.Patience, TimeSpan.FromMilliseconds(1));
        var waiting = Enumerable.Range(0, 5).Select(_ => silo.Factory.GetGrain<IBatch>("a").Run(null)).ToArray();
        var refusal = await Assert.ThrowsAsync<GroupOverloadedException>(() => silo.Factory.GetGrain<IBatch>("b").Run(null));
        Assert.Equal(("batch", "MaxQueued"), (refusal.Group, refusal.Limit));
        Assert.InRange(refusal.RetryAfter, TimeSpan.FromMilliseconds(10), TimeSpan.FromSeconds(10));
        await silo.Factory.GetGrain<IPlain>("other").Run(null);
        gate.Open();
        await Task.WhenAll([running, .. waiting]);
        await silo.Factory.GetGrain<IBatch>("b").Run(null);
        await TestingUtils.WaitUntilAsync(_ => Task.FromResult(batch.Queued == 0), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.Equal(1, batch.Refused(GroupLimit.Queued));
    }

    [Fact]
    public async Task An_activation_beyond_the_limit_of_a_group_does_not_start_until_another_one_has_ended()
    {
        await using var cluster = Cluster(static groups => groups.Add("batch", static batch => batch.MaxActivations = 2));
        await cluster.DeployAsync();
        var silo = Silo(cluster);
        await silo.Factory.GetGrain<IBatch>("a").Run(null);
        await silo.Factory.GetGrain<IBatch>("b").Run(null);
        var refusal = await Assert.ThrowsAsync<GroupOverloadedException>(() => silo.Factory.GetGrain<IBatch>("c").Run(null));
        Assert.Equal(("batch", "MaxActivations"), (refusal.Group, refusal.Limit));
        await silo.Factory.GetGrain<IBatch>("a").End();
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(GroupOf(silo, "batch").Activations == 1), Gate.Patience, TimeSpan.FromMilliseconds(1));
        await silo.Factory.GetGrain<IBatch>("d").Run(null);
        Assert.Equal(2, GroupOf(silo, "batch").Activations);
    }

    [Fact]
    public async Task Groups_beyond_the_number_of_series_are_added_up()
    {
        await using var cluster = Cluster(static groups =>
        {
            groups.MaxSeries = 3;
            for (var i = 0; i < 50; i++)
                groups.Add("g" + i);
            groups.Add("batch").Select = static (grain, _) => grain.Key.ToString();
        });
        await cluster.DeployAsync();
        var silo = Silo(cluster);
        for (var i = 0; i < 50; i++)
            await silo.Factory.GetGrain<IPlain>("g" + i).Run(null);
        var activations = Read(silo.Metrics.Meter, "actop.groups.activations");
        Assert.Equal(4, activations.Count);
        // "batch", "default" and "g0" are the first by name.
        Assert.Equal(49, activations["(others)"]);
        Assert.Equal(1, activations["g0"]);
    }

    [Theory]
    [InlineData("Weight must be above 0 to 10000, but is 0", 0.0)]
    [InlineData("Weight must be above 0 to 10000, but is NaN", double.NaN)]
    public Task A_wrong_weight_fails_the_start(string text, double weight) =>
        FailsAsync(text, groups => groups.Add("batch").Add("bad", bad => bad.Weight = weight));

    [Fact]
    public async Task Groups_that_do_not_fit_together_fail_the_start_and_the_message_says_what_to_do()
    {
        await FailsAsync("is below itself: remove one Parent of the circle",
            static groups => groups.Add("batch").Add("x", static one => one.Parent = "y").Add("y", static one => one.Parent = "x"));
        await FailsAsync("which does not exist: add it, or remove the Parent",
            static groups => groups.Add("batch").Add("x", static one => one.Parent = "y"));
        await FailsAsync("has [Group(\"batch\")], and the silo has no such group: add it by AddGroups",
            static groups => groups.Add("other"));
        await FailsAsync("Ticks have an effect only with GroupsOptions.Mode = BudgetMode.Ticks",
            static groups => groups.Add("batch", static batch => batch.Ticks = 10));
        await FailsAsync("ticks per interval together, and there are", static groups =>
        {
            groups.Mode = BudgetMode.Ticks;
            groups.Add("batch", static batch => batch.Ticks = 1_000_001);
        });
        await FailsAsync("Max must be above 0 to 1", static groups => groups.Add("batch", static batch => batch.Max = 1.5));
        await FailsAsync("Min must be above 0 to 0.95", static groups => groups.Add("batch", static batch => batch.Min = 1));
        await FailsAsync("Min must not be above Max", static groups => groups.Add("batch", static batch => (batch.Min, batch.Max) = (0.5, 0.2)));
        await FailsAsync("All groups have 1 guaranteed by Min together, and 0.95 is the most: guarantee less",
            static groups => groups.Add("batch", static batch => batch.Min = 0.6).Add("other", static other => other.Min = 0.4));
        await FailsAsync("GroupsOptions.Quantum must be", static groups => groups.Add("batch").Quantum = TimeSpan.Zero);
        await FailsAsync("GroupsOptions.Interval must be", static groups => groups.Add("batch").Interval = TimeSpan.Zero);
        await FailsAsync("GroupsOptions.Cost has an effect only with Mode = BudgetMode.Ticks",
            static groups => groups.Add("batch").Cost = static (_, _, _) => null);
        await FailsAsync("GroupsOptions.MaxSeries must be", static groups => groups.Add("batch").MaxSeries = 0);
        await FailsAsync("are the runtime's own; use another one", static groups => groups.Add("batch").Add("(runtime)"));
        await FailsAsync("MaxQueued must be", static groups => groups.Add("batch", static batch => batch.MaxQueued = 0));
        await FailsAsync("MaxActivations must be", static groups => groups.Add("batch", static batch => batch.MaxActivations = 0));
        await FailsAsync("MaxCallsPerSecond must be", static groups => groups.Add("batch", static batch => batch.MaxCallsPerSecond = 0));
        await FailsAsync("StageOptions.Mode must be OwnThreads", static groups => groups.Add("batch"),
            static silo => silo.Configure<StageOptions>(static options => options.Mode = Staging.StageMode.ThreadPool));
    }

    [Fact]
    public async Task A_group_that_has_used_its_ticks_waits_for_the_next_interval_and_others_go_on()
    {
        await using var cluster = Cluster(static groups =>
        {
            groups.Mode = BudgetMode.Ticks;
            groups.Interval = TimeSpan.FromSeconds(2);
            groups.Add("batch", static batch => batch.Ticks = 20);
        });
        await cluster.DeployAsync();
        var silo = Silo(cluster);
        var batch = silo.Factory.GetGrain<IBatch>("a");
        await batch.Run(null);
        var flood = Enumerable.Range(0, 10_000).Select(_ => batch.Compute(200)).ToArray();
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(GroupOf(silo, "batch").IsInactive), Gate.Patience, TimeSpan.FromMilliseconds(1));
        Assert.Contains(flood, static call => !call.IsCompleted);
        await silo.Factory.GetGrain<IPlain>("other").Run(null).WaitAsync(Gate.Patience);
        var used = GroupOf(silo, "batch").Used;
        await TestingUtils.WaitUntilAsync(
            _ => Task.FromResult(GroupOf(silo, "batch").Used > used), Gate.Patience, TimeSpan.FromMilliseconds(1));
    }

    private static InProcessTestCluster Cluster(
        Action<GroupsOptions> configure, LogCapture? log = null, Action<IServiceCollection>? services = null)
    {
        var builder = new InProcessTestClusterBuilder(1);
        builder.ConfigureSilo((_, silo) =>
        {
            silo.AddGroups(configure);
            services?.Invoke(silo.Services);
            if (log is not null)
                silo.Services.AddSingleton<ILoggerProvider>(log);
        });
        return builder.Build();
    }

    private static async Task FailsAsync(string text, Action<GroupsOptions> configure, Action<ISiloBuilder>? more = null)
    {
        using var host = new HostBuilder().UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(0, 0).AddGroups(configure);
            more?.Invoke(silo);
        }).Build();
        var exception = await Assert.ThrowsAsync<OrleansConfigurationException>(() => host.StartAsync());
        Assert.Contains(text, exception.Message, StringComparison.Ordinal);
    }

    private static Node Silo(InProcessTestCluster cluster) => cluster.Silos[0].ServiceProvider.GetRequiredService<Node>();

    private static GrainGroup GroupOf(Node silo, string name) => silo.Stages.Groups!.All.Single(group => group.Name == name);

    private static async Task<string> GroupOfAsync(Node silo, IGrouped grain)
    {
        await grain.Run(null);
        Assert.True(silo.Activations.TryGet(grain.GetGrainId(), out var activation));
        return activation.Home.Group!.Name;
    }

    private static Dictionary<string, double> Read(Meter meter, string name)
    {
        Dictionary<string, double> values = [];
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, self) =>
        {
            if (ReferenceEquals(instrument.Meter, meter) && instrument.Name == name)
                self.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<double>((_, measured, tags, _) => values.Add((string)tags[0].Value!, measured));
        listener.Start();
        listener.RecordObservableInstruments();
        return values;
    }

    public interface IGrouped : IGrainWithStringKey
    {
        Task Run(string? gate);
    }

    public interface IPlain : IGrouped;

    public sealed class PlainGrain : Grain, IPlain
    {
        public Task Run(string? gate) => Gate.PassAsync(gate);
    }

    public interface IBatch : IGrouped
    {
        Task Compute(int microseconds);

        Task End();
    }

    [Group("batch")]
    public sealed class BatchGrain : Grain, IBatch
    {
        public Task Run(string? gate) => Gate.PassAsync(gate);

        public Task Compute(int microseconds)
        {
            var began = System.Diagnostics.Stopwatch.GetTimestamp();
            while (System.Diagnostics.Stopwatch.GetElapsedTime(began).TotalMicroseconds < microseconds)
            {
            }

            return Task.CompletedTask;
        }

        public Task End()
        {
            DeactivateOnIdle();
            return Task.CompletedTask;
        }
    }
}
