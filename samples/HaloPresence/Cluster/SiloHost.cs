using System.Net;
using ActOp.Configuration;
using HaloPresence.Children;
using HaloPresence.Faults;
using HaloPresence.Grains;
using Harness.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace HaloPresence.Cluster;

/// <summary>One silo of the localhost cluster in this process.</summary>
public sealed class SiloHost : ISilo
{
    private readonly IHost _host;
    private readonly MessageCensus _census;
    private readonly RuntimeMeter _meter;
    private readonly Telemetry? _telemetry;

    private SiloHost(IHost host, MessageCensus census, RuntimeMeter meter, Telemetry? telemetry)
    {
        _host = host;
        _census = census;
        _meter = meter;
        _telemetry = telemetry;
    }

    /// <summary>Starts the silo and joins the cluster of the primary.</summary>
    public static async Task<SiloHost> StartAsync(SiloArguments arguments, CancellationToken cancellation)
    {
        var census = new MessageCensus(arguments.Index);
        // Before the silo, so that no instrument is missed.
        var meter = new RuntimeMeter();
        Telemetry? telemetry = Telemetry.Start(arguments.Options.Otlp, "silo-" + arguments.Index);
        HostApplicationBuilder builder = QuietHost.CreateBuilder();
        builder.Services.AddSingleton(census);
        builder.Services.AddSingleton(new ActivationJournal(arguments.Journal));
        if (arguments.Journal is not null)
        {
            builder.Logging.AddFilter<ViewLines>("ActOp.Runtime", LogLevel.Information);
            builder.Logging.AddProvider(new ViewLines());
        }
        builder.UseOrleans(silo => Configure(silo, arguments));
        IHost host = builder.Build();
        await host.StartAsync(cancellation);
        return new SiloHost(host, census, meter, telemetry);
    }

    /// <inheritdoc/>
    public SiloSample Read(SiloSample sample)
    {
        _meter.Observe();
        return sample with
        {
            LocalMessages = _meter.LocalMessages,
            RemoteMessages = _meter.RemoteMessages,
            CheckedLocal = _census.Local,
            CheckedRemote = _census.Remote,
            Activations = _meter.Activations,
            Moves = _meter.Moves,
        };
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync();
        _host.Dispose();
        _meter.Dispose();
        _telemetry?.Dispose();
    }

    private static void Configure(ISiloBuilder silo, SiloArguments arguments)
    {
        IPEndPoint? primary = arguments.Index == 0 ? null : new IPEndPoint(IPAddress.Loopback, arguments.Primary);
        silo.UseLocalhostClustering(arguments.Port, arguments.Gateway, primary);
        if (arguments.Lease > 0)
            silo.Configure<ClusterLeaseOptions>(options => options.Duration = TimeSpan.FromSeconds(arguments.Lease));
        silo.Configure<LocalityOptions>(options =>
        {
            options.Enabled = arguments.Options.MovesGrains;
            options.Migration = arguments.Options.Migration;
            // The paper's way to move carries nothing: what the grains hold is lost, and what the players do next brings it back.
            options.Moves = arguments.Options.Migration == MigrationMode.Opportunistic ? MovableGrains.All : MovableGrains.NothingLost;
            options.Algorithm = arguments.Options.Algorithm;
        });
        silo.Configure<StageOptions>(options => options.Controller = arguments.Options.SizesStages ? StageController.Model : StageController.Fixed);
    }
}
