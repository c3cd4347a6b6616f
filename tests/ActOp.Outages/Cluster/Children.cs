using System.Net;
using ActOp.Configuration;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Outages.Load;
using Microsoft.Extensions.Logging;

namespace ActOp.Outages.Cluster;

/// <summary>The arguments of a silo process.</summary>
/// <param name="Address">Where it is.</param>
/// <param name="Database">Connection string.</param>
/// <param name="Lease">Seconds; 0 for none.</param>
/// <param name="Turns">The file for turns.</param>
/// <param name="Arrivals">The file for items of streams.</param>
internal sealed record SiloArguments(string Address, string Database, double Lease, string Turns, string Arrivals)
{
    internal const string Command = "silo";

    internal string[] Print() =>
        [Command, Address, Database, Lease.ToString(System.Globalization.CultureInfo.InvariantCulture), Turns, Arrivals];

    internal static SiloArguments Read(string[] args) =>
        new(args[1], args[2], double.Parse(args[3], System.Globalization.CultureInfo.InvariantCulture), args[4], args[5]);
}

/// <summary>A process says that it, or the whole machine, stood still.</summary>
internal sealed record StillLine
{
    /// <summary>Shorter ones change nothing: probes and leases allow for more.</summary>
    private static readonly TimeSpan Shortest = TimeSpan.FromSeconds(0.5);

    /// <summary>For how long, in ticks.</summary>
    public required long Still { get; init; }

    /// <summary>Until when: ticks of the machine's monotonic clock.</summary>
    public required long Until { get; init; }

    /// <summary>Watches this process.</summary>
    internal static Standstills Watch(Action<StillLine> say) => new(new MonotonicClock(), (until, length) =>
    {
        if (length >= Shortest)
            say(new StillLine { Still = length.Ticks, Until = until.Ticks });
    });
}

/// <summary>The silo process. It prints the views that it adopts, and stops in order when its standard input ends.</summary>
internal static class SiloChild
{
    /// <summary>Runs it; returns the exit code.</summary>
    internal static async Task<int> RunAsync(SiloArguments arguments)
    {
        var ended = ParentWatch.Start();
        using var stills = StillLine.Watch(static line => JsonLines.Write(Console.Out, line));
        using var journal = new TurnJournal(arguments.Turns, arguments.Arrivals);
        var builder = QuietHost.CreateBuilder();
        builder.Services.AddSingleton(journal);
        builder.Logging.AddFilter<ViewLines>("ActOp.Runtime", LogLevel.Information);
        builder.Logging.AddProvider(new ViewLines());
        builder.UseOrleans(silo => Configure(silo, arguments));
        using var host = builder.Build();
        await host.StartAsync(ended).ConfigureAwait(false);
        // A silo that was declared dead ends its host by itself; whoever started it starts a new one.
        var life = host.Services.GetRequiredService<IHostApplicationLifetime>();
        using var over = CancellationTokenSource.CreateLinkedTokenSource(ended, life.ApplicationStopping);
        await Task.Delay(Timeout.InfiniteTimeSpan, TimeProvider.System, over.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await host.StopAsync(CancellationToken.None).ConfigureAwait(false);
        return ended.IsCancellationRequested ? 0 : 3;
    }

    private static void Configure(ISiloBuilder silo, SiloArguments arguments)
    {
        var database = arguments.Database;
        silo.UseAdoNetClustering(options =>
        {
            options.Invariant = "Npgsql";
            options.ConnectionString = database;
        });
        silo.Configure<EndpointOptions>(options =>
        {
            options.AdvertisedIPAddress = IPAddress.Parse(arguments.Address);
            options.SiloPort = Names.SiloPort;
            options.GatewayPort = Names.GatewayPort;
        });
        silo.UseClusterSecret(Names.Secret);
        if (arguments.Lease > 0)
            silo.Configure<ClusterLeaseOptions>(options => options.Duration = TimeSpan.FromSeconds(arguments.Lease));
        silo.Configure<SiloMessagingOptions>(options => options.ResponseTimeout = ClientChild.Patience);
        // A counter in memory begins anew because of a fault only.
        silo.Configure<GrainCollectionOptions>(options => options.CollectionAge = TimeSpan.FromDays(1));
        foreach (var name in (string[])[Names.Storage, "PubSubStore"])
        {
            silo.AddAdoNetGrainStorage(name, options =>
            {
                options.Invariant = "Npgsql";
                options.ConnectionString = database;
            });
        }

        silo.AddAdoNetStreams(Names.Streams, options =>
        {
            options.Invariant = "Npgsql";
            options.ConnectionString = database;
        });
    }
}
