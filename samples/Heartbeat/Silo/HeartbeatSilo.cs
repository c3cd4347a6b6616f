using ActOp.Configuration;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Configuration;

namespace Heartbeat;

/// <summary>Adds a silo of Heartbeat to a host.</summary>
public static class HeartbeatSilo
{
    /// <summary>
    /// Adds a silo that is a cluster by itself. All options come from the configuration: its ports from <c>Silo:Port</c> and
    /// <c>Silo:Gateway</c>, its threads from the section <c>Stages</c> (<see cref="StageOptions"/>).
    /// </summary>
    public static HostApplicationBuilder AddHeartbeat(this HostApplicationBuilder builder)
    {
        IConfiguration configuration = builder.Configuration;
        var port = configuration.GetValue("Silo:Port", EndpointOptions.DEFAULT_SILO_PORT);
        var gateway = configuration.GetValue("Silo:Gateway", EndpointOptions.DEFAULT_GATEWAY_PORT);
        builder.UseOrleans(silo => silo.UseLocalhostClustering(port, gateway));
        builder.Services.Configure<StageOptions>(configuration.GetSection("Stages"));
        return builder;
    }
}
