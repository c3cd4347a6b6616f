using ActOp.TestClusters;

namespace ActOp.Hosting.Tests.Clusters;

/// <summary>The test host itself.</summary>
public class TestClusterTests
{
    [Fact]
    public async Task A_cluster_of_configurator_types_deploys_two_silos_and_a_client()
    {
        var builder = new TestClusterBuilder();
        builder.AddSiloBuilderConfigurator<Marker>();
        builder.AddClientBuilderConfigurator<Marker>();
        builder.Properties["colour"] = "green";
        await using var cluster = builder.Build();
        await cluster.DeployAsync();

        Assert.Equal(["Primary", "Secondary_1"], cluster.Silos.Select(silo => silo.Name));
        Assert.All(
            cluster.Silos, silo =>
                Assert.Equal("green", cluster.GetSiloServiceProvider(silo.SiloAddress).GetRequiredService<Mark>().Colour));
        Assert.Equal("green", cluster.ServiceProvider.GetRequiredService<Mark>().Colour);
        Assert.Equal("hello", await cluster.GrainFactory.GetGrain<IEchoGrain>("a").Echo("hello"));
    }

    [Fact]
    public async Task Silos_come_and_go()
    {
        await using var cluster = new TestClusterBuilder(1).Build();
        await cluster.DeployAsync();
        var second = await cluster.StartAdditionalSiloAsync();
        await cluster.WaitForLivenessToStabilizeAsync();
        await cluster.KillSiloAsync(second);
        await cluster.WaitForLivenessToStabilizeAsync(didKill: true);
        var again = await cluster.RestartStoppedSecondarySiloAsync(second.Name);
        await cluster.WaitForLivenessToStabilizeAsync();
        Assert.NotEqual(second.SiloAddress, again.SiloAddress);
        var restarted = await cluster.RestartSiloAsync(again);
        await cluster.WaitForLivenessToStabilizeAsync();
        Assert.Equal(again.Name, restarted!.Name);
        await cluster.StopAllSilosAsync();
        Assert.Empty(cluster.Silos);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_silo_that_was_stopped_by_its_handle_is_started_again_by_its_name(bool gracefully)
    {
        await using var cluster = new TestClusterBuilder(2).Build();
        await cluster.DeployAsync();
        var second = cluster.SecondarySilos[0];
        await second.StopSiloAsync(gracefully);
        await cluster.WaitForLivenessToStabilizeAsync(didKill: !gracefully);
        var oracle = cluster.GetSiloServiceProvider(cluster.Primary!.SiloAddress).GetRequiredService<ISiloStatusOracle>();
        Assert.True(oracle.TryGetSiloName(second.SiloAddress, out var name));
        Assert.Equal(second.Name, name);
        var again = await cluster.RestartStoppedSecondarySiloAsync(second.Name);
        Assert.Equal(second.Name, again.Name);
        Assert.Equal([cluster.Primary, again], cluster.Silos);
    }

    [Fact]
    public async Task A_silo_in_the_process_that_was_stopped_by_its_handle_is_started_again_by_its_name()
    {
        await using var cluster = await TestSilos.StartAsync(2);
        var second = cluster.Silos[1];
        await second.StopSiloAsync(stopGracefully: true);
        var again = await cluster.RestartStoppedSecondarySiloAsync(second.Name);
        Assert.Equal(second.Name, again.Name);
        Assert.Equal([cluster.Silos[0], again], cluster.Silos);
    }

    [Fact]
    public async Task Silos_can_talk_over_sockets()
    {
        var builder = new TestClusterBuilder();
        builder.Options.ConnectionTransport = ConnectionTransportType.TcpSocket;
        await using var cluster = builder.Build();
        await cluster.DeployAsync();
        for (var key = 0; key < 20; key++)
            Assert.Equal("hello", await cluster.GrainFactory.GetGrain<IEchoGrain>(key.ToString()).Echo("hello"));
    }

    [Fact]
    public async Task A_grain_is_moved_and_deactivated_by_the_test()
    {
        await using var cluster = new InProcessTestClusterBuilder().Build();
        await cluster.DeployAsync();
        var grain = cluster.Client.GetGrain<IEchoGrain>("a");
        var before = await grain.Where();
        var target = cluster.Silos.Single(silo => !silo.SiloAddress.Equals(before)).SiloAddress;
        await cluster.MigrateAsync(grain, target);
        Assert.Equal(target, await grain.Where());
        Assert.True(cluster.TryGetGrainContext(grain.GetGrainId(), out var context));
        var ending = cluster.WaitForDeactivationAsync(grain);
        Assert.False(ending.IsCompleted);
        await cluster.DeactivateAsync(grain);
        await ending;
        Assert.True(context!.Deactivated.IsCompleted);
        Assert.False(cluster.TryGetGrainContext(grain.GetGrainId(), out _));
    }

    public sealed record Mark(string Colour);

    public sealed class Marker : ISiloConfigurator, IClientBuilderConfigurator
    {
        public void Configure(ISiloBuilder siloBuilder) =>
            siloBuilder.Services.AddSingleton(new Mark(siloBuilder.Configuration["colour"]!));

        public void Configure(Microsoft.Extensions.Configuration.IConfiguration configuration, IClientBuilder clientBuilder) =>
            clientBuilder.Services.AddSingleton(new Mark(configuration["colour"]!));
    }
}
