using ActOp.TestClusters;

namespace ActOp.Hosting.Tests.Clusters;

/// <summary>What the test host says when it is used in the wrong order.</summary>
public sealed class TestClusterErrorTests
{
    [Fact]
    public async Task A_cluster_is_deployed_once()
    {
        await using var cluster = new TestClusterBuilder(1).Build();
        var early = Assert.Throws<InvalidOperationException>(() => cluster.Client);
        Assert.Contains("Deploy", early.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => cluster.GrainFactory);
        Assert.Empty(cluster.GetActiveSilos());
        Assert.Null(cluster.Primary);
        await cluster.DeployAsync();
        Assert.Equal("Cluster host already deployed.", (await Assert.ThrowsAsync<InvalidOperationException>(cluster.DeployAsync)).Message);
        Assert.Equal("Cluster host already deployed.", Assert.Throws<InvalidOperationException>(cluster.Deploy).Message);
        Assert.Equal("hello", await cluster.GrainFactory.GetGrain<IEchoGrain>("a").Echo("hello"));
    }

    [Fact]
    public async Task A_cluster_in_the_process_is_deployed_once()
    {
        await using var cluster = new InProcessTestClusterBuilder(1).Build();
        Assert.Throws<InvalidOperationException>(() => cluster.Client);
        await cluster.DeployAsync();
        Assert.Equal("Cluster host already deployed.", (await Assert.ThrowsAsync<InvalidOperationException>(cluster.DeployAsync)).Message);
        await cluster.StopSiloAsync(null!);
        await cluster.KillSiloAsync(null!);
        Assert.Single(cluster.GetActiveSilos());
    }

    [Fact]
    public async Task The_first_silo_is_listed_first_and_stops_with_the_client()
    {
        await using var cluster = new TestClusterBuilder(2).Build();
        await cluster.DeployAsync();
        await cluster.StopSiloAsync(null!);
        await cluster.KillSiloAsync(null!);
        Assert.Null(await cluster.RestartSiloAsync(null!));
        var first = await cluster.RestartSiloAsync(cluster.Primary!);
        Assert.Equal(["Primary", "Secondary_1"], cluster.GetActiveSilos().Select(static silo => silo.Name));
        Assert.Same(first, cluster.Primary);
        await cluster.SecondarySilos[0].StopSiloAsync(stopGracefully: true);
        Assert.Equal(["Primary"], cluster.Silos.Select(static silo => silo.Name));
        await cluster.StopPrimarySiloAsync();
        Assert.Empty(cluster.Silos);
        Assert.Throws<InvalidOperationException>(() => cluster.Client);
        Assert.Equal(
            "There is no primary silo", (await Assert.ThrowsAsync<InvalidOperationException>(cluster.StopPrimarySiloAsync)).Message);
    }

    [Fact]
    public async Task A_deployment_that_fails_throws_what_has_failed_and_leaves_nothing()
    {
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo(static (_, silo) => silo.AddStartupTask(static (_, _) => throw new TimeoutException("on purpose")));
        await using var late = builder.Build();
        var timeout = await Assert.ThrowsAsync<TimeoutException>(late.DeployAsync);
        Assert.Equal("Timeout during test initialization", timeout.Message);
        Assert.Equal("on purpose", timeout.InnerException!.GetBaseException().Message);
        Assert.Empty(late.Silos);

        builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo(static (_, silo) => silo.AddStartupTask(static (_, _) => throw new NotSupportedException("on purpose")));
        await using var wrong = builder.Build();
        Assert.Contains("on purpose", (await Assert.ThrowsAnyAsync<Exception>(wrong.DeployAsync)).ToString(), StringComparison.Ordinal);
        Assert.Empty(wrong.Silos);
    }
}
