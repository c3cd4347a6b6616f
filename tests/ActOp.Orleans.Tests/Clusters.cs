using ActOp.Orleans.Locality;
using Microsoft.Extensions.DependencyInjection;
using Orleans.TestingHost;

namespace ActOp.Orleans.Tests;

/// <summary>Clusters of Orleans in this process.</summary>
internal static class Clusters
{
    /// <summary>Rounds and folds follow quickly, so that tests end soon.</summary>
    internal static void Quickly(LocalityOptions options)
    {
        options.FoldPeriod = TimeSpan.FromMilliseconds(200);
        options.MinRoundPeriod = TimeSpan.FromMilliseconds(200);
        options.MaxRoundPeriod = TimeSpan.FromMilliseconds(400);
        options.RejectionWindow = TimeSpan.FromMilliseconds(50);
        options.DecayHalfLife = TimeSpan.FromSeconds(2);
        options.Tolerance = 0.2;
    }

    internal static async Task<InProcessTestCluster> StartAsync(short silos, Action<ISiloBuilder>? configure = null)
    {
        var builder = new InProcessTestClusterBuilder(silos);
        builder.ConfigureSilo((_, silo) =>
        {
            (configure ?? (static one => one.AddActOpLocality(Quickly)))(silo);
        });
        var cluster = builder.Build();
        await cluster.DeployAsync();
        return cluster;
    }

    internal static LocalitySilo LocalityOf(this InProcessTestCluster cluster, int silo) =>
        cluster.GetSiloServiceProvider(cluster.Silos[silo].SiloAddress).GetRequiredService<LocalitySilo>();

    internal static T PartOf<T>(this InProcessTestCluster cluster, int silo)
        where T : notnull => cluster.GetSiloServiceProvider(cluster.Silos[silo].SiloAddress).GetRequiredService<T>();

    /// <summary>Repeats an action until a condition holds, or fails.</summary>
    internal static async Task Until(Func<Task<bool>> holds, Func<Task> meanwhile, int seconds = 40)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(seconds));
        while (!await holds())
        {
            Assert.False(limit.IsCancellationRequested, $"It does not hold after {seconds} s.");
            await meanwhile();
        }
    }
}
