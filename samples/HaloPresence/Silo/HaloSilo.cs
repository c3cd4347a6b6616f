using System.Net;
using ActOp.Configuration;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace HaloPresence;

/// <summary>Where the silo listens: the section <c>Silo</c> of the configuration.</summary>
public sealed class SiloPorts
{
    /// <summary>Port for other silos.</summary>
    public int Port { get; set; } = 11111;

    /// <summary>Port for clients.</summary>
    public int Gateway { get; set; } = 30000;

    /// <summary>Port of the first silo of the cluster, which holds the membership table.</summary>
    public int Primary { get; set; } = 11111;
}

/// <summary>Adds a silo of Halo Presence to a host.</summary>
public static class HaloSilo
{
    /// <summary>
    /// Adds the silo. All options come from the configuration: sections <c>Silo</c> (<see cref="SiloPorts"/>), <c>Locality</c>
    /// (<see cref="LocalityOptions"/>), <c>Stages</c> (<see cref="StageOptions"/>) and <c>Lease</c> (<see cref="ClusterLeaseOptions"/>),
    /// the address of an OpenTelemetry collector, <c>Telemetry:Collector</c>, and the connection string <c>Cluster</c> of a PostgreSQL
    /// database that holds the membership table; without it the first silo does.
    /// </summary>
    public static HostApplicationBuilder AddHaloPresence(this HostApplicationBuilder builder)
    {
        IConfiguration configuration = builder.Configuration;
        var ports = configuration.GetSection("Silo").Get<SiloPorts>() ?? new SiloPorts();
        var primary = ports.Port == ports.Primary ? null : new IPEndPoint(IPAddress.Loopback, ports.Primary);
        if (configuration["Telemetry:Collector"] is { Length: > 0 } collector)
            builder.Services.AddTelemetry(new Uri(collector), $"silo-{ports.Port}");
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(ports.Port, ports.Gateway, primary);
            if (configuration.GetConnectionString("Cluster") is { Length: > 0 } database)
            {
                silo.UseAdoNetClustering(options =>
                {
                    options.Invariant = "Npgsql";
                    options.ConnectionString = database;
                });
            }
        });
        builder.Services.Configure<LocalityOptions>(configuration.GetSection("Locality"));
        builder.Services.Configure<StageOptions>(configuration.GetSection("Stages"));
        builder.Services.Configure<ClusterLeaseOptions>(configuration.GetSection("Lease"));
        return builder;
    }
}
