using ActOp.Mesh.Transports.Tcp;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Networking.Shared;

namespace ActOp.Runtime.Nodes;

/// <summary>The sockets of a node, by <see cref="SocketConnectionOptions"/> as far as these were changed. Holds nothing.</summary>
internal static class NodeSockets
{
    private static readonly SocketConnectionOptions Usual = new();

    internal static TcpOptions Options(IServiceProvider services)
    {
        var sockets = new TcpOptions();
        if (services.GetService<IOptions<SocketConnectionOptions>>()?.Value is not { } options)
            return sockets;
        OptionRules.Check(options);
        sockets.NoDelay = options.NoDelay;
        sockets.KeepAlive = options.KeepAlive;
        if (KeepAlives(options) != KeepAlives(Usual))
        {
            (sockets.KeepAliveSeconds, sockets.KeepAliveIntervalSeconds, sockets.KeepAliveRetries) =
                (options.KeepAliveTimeSeconds, options.KeepAliveIntervalSeconds, options.KeepAliveRetryCount);
        }

        return sockets;
    }

    private static (int Time, int Interval, int Retries) KeepAlives(SocketConnectionOptions options)
        => (options.KeepAliveTimeSeconds, options.KeepAliveIntervalSeconds, options.KeepAliveRetryCount);
}
