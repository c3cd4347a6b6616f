namespace ActOp.Hosting.Tests.Clusters;

/// <summary>What a test that is cancelled leaves of its cluster.</summary>
public sealed class TestClusterCancellationTests
{
    [Fact]
    public async Task A_deployment_that_is_cancelled_ends_what_has_started()
    {
        using var cancellation = new CancellationTokenSource();
        SiloHandle? first = null;
        await using var cluster = new TestClusterBuilder(2).Build();
        cluster.CreateSiloAsyncWithCancellation = async (name, configuration, token) =>
        {
            if (first is null)
                return first = await cluster.DefaultCreateSiloAsync(name, configuration, token);
            Assert.True(cluster.ContainsSilo(first.SiloAddress));
            cancellation.Cancel();
            return await cluster.DefaultCreateSiloAsync(name, configuration, token);
        };
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cluster.DeployAsync(cancellation.Token));
        Assert.False(first!.IsActive);
        Assert.False(cluster.ContainsSilo(first.SiloAddress));
        Assert.Empty(cluster.Silos);
    }

    [Fact]
    public async Task A_deployment_in_one_process_that_is_cancelled_leaves_no_silo()
    {
        using var cancellation = new CancellationTokenSource();
        var builder = new InProcessTestClusterBuilder(2);
        builder.ConfigureSilo((options, _) =>
        {
            if (options.SiloName.EndsWith('1'))
                cancellation.Cancel();
        });
        await using var cluster = builder.Build();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cluster.DeployAsync(cancellation.Token));
        Assert.Empty(cluster.Silos);
    }

    [Fact]
    public async Task Nodes_whose_stop_is_cancelled_end_at_once()
    {
        await using var cluster = new TestClusterBuilder(2).Build();
        await cluster.DeployAsync(CancellationToken.None);
        SiloHandle[] silos = [.. cluster.Silos];
        await cluster.StopAllSilosAsync(new CancellationToken(canceled: true));
        Assert.All(silos, static silo => Assert.False(silo.IsActive));
        Assert.Throws<InvalidOperationException>(() => cluster.Client);
    }

    [Fact]
    public async Task A_silo_and_a_client_start_and_stop_with_a_token()
    {
        using var cancellation = new CancellationTokenSource();
        await using var cluster = new InProcessTestClusterBuilder(1).Build();
        await cluster.DeployAsync(cancellation.Token);
        var more = Assert.Single(await cluster.StartSilosAsync(1, cancellation.Token));
        Assert.True(cluster.ContainsSilo(more.SiloAddress));
        await cluster.InitializeClientAsync(cancellation.Token);
        await cluster.StopSiloAsync(more, cancellation.Token);
        await cluster.KillSiloAsync(cluster.Silos[0], cancellation.Token);
        await cluster.StopClusterClientAsync(cancellation.Token);
        Assert.Empty(cluster.Silos);
    }
}
