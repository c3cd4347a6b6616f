using System.Diagnostics.Metrics;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Hosting;

namespace HaloPresence.Tests;

public sealed class TelemetryTests
{
    [Fact]
    public async Task A_collector_gets_the_metrics_of_a_host_that_ends()
    {
        using var collector = new TcpListener(IPAddress.Loopback, 0);
        collector.Start();
        var request = Beginning(collector, TestContext.Current.CancellationToken);
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Services.AddTelemetry(new Uri($"http://{collector.LocalEndpoint}"), "silo-1");
        using (var host = builder.Build())
        {
            await host.StartAsync(TestContext.Current.CancellationToken);
            using var meter = new Meter("ActOp.Tests");
            meter.CreateCounter<int>("calls").Add(1);
            await host.StopAsync(TestContext.Current.CancellationToken);
        }

        Assert.StartsWith("PRI * HTTP/2.0", await request, StringComparison.Ordinal);
    }

    /// <summary>The first bytes of the first connection, which is closed then: the sender does not wait for an answer.</summary>
    private static async Task<string> Beginning(TcpListener listener, CancellationToken cancellation)
    {
        using var client = await listener.AcceptTcpClientAsync(cancellation);
        var bytes = new byte[14];
        await client.GetStream().ReadExactlyAsync(bytes, cancellation);
        return System.Text.Encoding.ASCII.GetString(bytes);
    }
}
