using ActOp.Runtime.Nodes;
using Orleans.Networking.Shared;

namespace ActOp.Hosting.Tests.Middleware;

public class NodeSocketTests
{
    [Fact]
    public void Sockets_have_the_options_of_the_node_as_far_as_they_were_changed()
    {
        var usual = Of(static _ => { });
        Assert.Equal((true, true, 30, 10, 3), usual);
        Assert.Equal((false, true, 30, 10, 3), Of(static options => options.NoDelay = false));
        Assert.Equal((true, false, 30, 10, 3), Of(static options => options.KeepAlive = false));
        Assert.Equal((true, true, 20, 30, 10), Of(static options => options.KeepAliveTimeSeconds = 20));
        Assert.Equal((true, true, 90, 4, 10), Of(static options => options.KeepAliveIntervalSeconds = 4));
        Assert.Equal((true, true, 90, 30, 5), Of(static options => options.KeepAliveRetryCount = 5));
        Assert.Throws<OrleansConfigurationException>(() => Of(static options => options.KeepAliveRetryCount = 0));
    }

    private static (bool NoDelay, bool KeepAlive, int Seconds, int Interval, int Retries) Of(Action<SocketConnectionOptions> configure)
    {
        using var services = new ServiceCollection().Configure(configure).BuildServiceProvider();
        var options = NodeSockets.Options(services);
        return (options.NoDelay, options.KeepAlive, options.KeepAliveSeconds, options.KeepAliveIntervalSeconds, options.KeepAliveRetries);
    }
}
