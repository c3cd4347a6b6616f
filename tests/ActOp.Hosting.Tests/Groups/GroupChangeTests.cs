using ActOp.Configuration;
using ActOp.Groups;
using ActOp.Runtime.Groups;
using ActOp.Runtime.Nodes;
using ActOp.TestClusters;
using Orleans.TestingHost;

namespace ActOp.Hosting.Tests.Groups;

/// <summary>Groups whose weights and limits change while silos run.</summary>
public class GroupChangeTests
{
    [Fact]
    public async Task A_change_reaches_all_silos_and_one_that_starts_later()
    {
        await using var cluster = Cluster(2);
        await cluster.DeployAsync();
        var management = cluster.Client.GetGrain<IGroupManagement>(0);
        await management.Change("batch", new GroupChange { Weight = 20, Max = 0.5, MaxCallsPerSecond = 1000 });
        await management.Change("batch", new GroupChange { MaxCallsPerSecond = 0, MaxQueued = 7 });
        await cluster.StartAdditionalSiloAsync();
        var expected = new GroupChange { Weight = 20, Max = 0.5, MaxQueued = 7, MaxActivations = 100 };
        Assert.Equal(3, cluster.Silos.Count);
        foreach (var silo in cluster.Silos.Select(Node))
        {
            Assert.Equal((20, 0.5), (GroupOf(silo, "batch").Options.Weight, GroupOf(silo, "batch").Options.Max));
            Assert.True(GroupOf(silo, "batch").IsLimited);
        }

        var reports = await management.GetGroups();
        Assert.Equal(9, reports.Length);
        Assert.All(reports.Where(static one => one.Name == "batch"), one => Assert.Equal(expected, one.Budget));
        Assert.All(reports.Where(static one => one.Name == "other"), static one => Assert.Equal("batch", one.Parent));
    }

    [Fact]
    public async Task A_new_limit_refuses_and_without_it_calls_run_again()
    {
        await using var cluster = Cluster(1);
        await cluster.DeployAsync();
        var grain = cluster.Client.GetGrain<GroupsTests.IBatch>("one");
        var management = cluster.Client.GetGrain<IGroupManagement>(0);
        await management.Change("batch", new GroupChange { MaxCallsPerSecond = 0.001 });
        // The first call of a group that had no calls before is let in.
        await grain.Run(null);
        var refusal = await Assert.ThrowsAsync<GroupOverloadedException>(() => grain.Run(null));
        Assert.Equal("MaxCallsPerSecond", refusal.Limit);
        await management.Change("batch", new GroupChange { MaxCallsPerSecond = 0 });
        await grain.Run(null);
        Assert.Equal(1, (await management.GetGroups()).Single(static one => one.Name == "batch").Refused);
    }

    [Fact]
    public async Task A_guarantee_of_one_group_changes_its_weight_until_it_is_removed()
    {
        await using var cluster = Cluster(1);
        await cluster.DeployAsync();
        var management = cluster.Client.GetGrain<IGroupManagement>(0);
        var silo = Node(cluster.Silos[0]);
        var before = GroupOf(silo, "batch").Weight;
        await management.Change("batch", new GroupChange { Min = 0.75 });
        // "default" has the weight 100 and is the only other one without a parent.
        Assert.Equal((before, 300.0), (GroupOf(silo, "batch").Options.Weight, GroupOf(silo, "batch").Weight));
        Assert.Equal(0.75, (await management.GetGroups()).Single(static one => one.Name == "batch").Budget.Min);
        await management.Change("batch", new GroupChange { Min = 0 });
        Assert.Equal(before, GroupOf(silo, "batch").Weight);
    }

    [Theory]
    [InlineData("nobody", 1.0, null, "has no group \"nobody\". It has: batch, default, other")]
    [InlineData("batch", 0.0, null, "Weight must be above 0 to 10000, but is 0. The group is as it was")]
    [InlineData("batch", double.NaN, null, "Weight must be above 0 to 10000, but is NaN")]
    [InlineData("batch", 5.0, 1.5, "Max must be above 0 to 1")]
    public async Task A_wrong_change_changes_nothing_and_says_what_to_do(string group, double weight, double? max, string text)
    {
        await using var cluster = Cluster(2);
        await cluster.DeployAsync();
        var management = cluster.Client.GetGrain<IGroupManagement>(0);
        var before = (await management.GetGroups()).Select(static one => one.Budget).ToArray();
        var refusal = await Assert.ThrowsAsync<ArgumentException>(
            () => management.Change(group, new GroupChange { Weight = weight, Max = max }));
        Assert.Contains(text, refusal.Message, StringComparison.Ordinal);
        Assert.Equal(before, (await management.GetGroups()).Select(static one => one.Budget));
    }

    [Fact]
    public async Task A_silo_that_has_not_got_the_group_refuses_before_another_one_has_changed()
    {
        await using var cluster = Cluster(2, static silo => silo == 1 ? "special" : null);
        await cluster.DeployAsync();
        var management = cluster.Client.GetGrain<IGroupManagement>(0);
        await Assert.ThrowsAsync<ArgumentException>(() => management.Change("special", new GroupChange { Weight = 5 }));
        var special = (await management.GetGroups()).Single(static one => one.Name == "special");
        Assert.Equal(100, special.Budget.Weight);
    }

    [Fact]
    public async Task Silos_without_groups_say_so()
    {
        await using var cluster = new InProcessTestClusterBuilder(1).Build();
        await cluster.DeployAsync();
        var management = cluster.Client.GetGrain<IGroupManagement>(0);
        Assert.Empty(await management.GetGroups());
        var refusal = await Assert.ThrowsAsync<ArgumentException>(() => management.Change("batch", new GroupChange { Weight = 5 }));
        Assert.Contains("has no groups. They are added by AddGroups", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Changes_that_come_twice_or_in_another_order_end_in_the_same_state()
    {
        await using var cluster = Cluster(1);
        await cluster.DeployAsync();
        var groups = Node(cluster.Silos[0]).Stages.Groups!;
        GroupSetting[] settings =
        [
            new("batch", new GroupChange { Weight = 1, MaxQueued = 1 }, 10), new("batch", new GroupChange { Weight = 2 }, 20),
            new("batch", new GroupChange { Weight = 3, Max = 0.25 }, 30), new("batch", new GroupChange { Max = 0.75 }, 40),
        ];
        foreach (var index in (int[])[3, 1, 0, 2, 2, 0, 3, 1])
            groups.Change(settings[index]);
        var batch = groups.All.Single(static one => one.Name == "batch").Options;
        Assert.Equal((3, 0.75, 1), (batch.Weight, batch.Max, batch.MaxQueued));
        // The second one has no value that is still the latest.
        Assert.Equal([10, 30, 40], groups.Changes.Select(static one => one.Stamp));
    }

    private static InProcessTestCluster Cluster(short silos, Func<int, string?>? more = null)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        var started = -1;
        builder.ConfigureSilo((_, silo) =>
        {
            var extra = more?.Invoke(Interlocked.Increment(ref started));
            silo.AddGroups(groups =>
            {
                groups.Add("batch", static batch => batch.MaxActivations = 100);
                groups.Add("other", static other => other.Parent = "batch");
                if (extra is not null)
                    groups.Add(extra);
            });
        });
        return builder.Build();
    }

    private static Node Node(InProcessSiloHandle silo) => silo.ServiceProvider.GetRequiredService<Node>();

    private static GrainGroup GroupOf(Node silo, string name) => silo.Stages.Groups!.All.Single(group => group.Name == name);
}
