using ActOp.Mesh.Transports;
using Microsoft.Extensions.Hosting;

namespace ActOp.TestClusters;

internal static class SecondClient
{
    /// <summary>A second client of a cluster, on the network of the first.</summary>
    internal static async Task<IHost> StartSecondClientAsync(this InProcessTestCluster testCluster)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        var first = testCluster.Client.ServiceProvider;
        var cluster = first.GetRequiredService<Microsoft.Extensions.Options.IOptions<ClusterOptions>>().Value;
        builder.UseOrleansClient(client =>
        {
            client.Services.AddSingleton(first.GetRequiredService<Transport>());
            client.Services.Configure<ClusterOptions>(
                options => (options.ClusterId, options.ServiceId) = (cluster.ClusterId, cluster.ServiceId));
            client.Services.Configure<StaticGatewayListProviderOptions>(options => options.Gateways =
                [.. testCluster.Silos.Select(silo => new Uri("gwy.tcp://127.0.0.1:" + silo.GatewayAddress.Endpoint.Port + "/0"))]);
        });
        var host = builder.Build();
        await host.StartAsync();
        return host;
    }
}
