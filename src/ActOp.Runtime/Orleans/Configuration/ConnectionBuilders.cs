using Microsoft.AspNetCore.Connections;

namespace Orleans.Configuration;

/// <summary>
/// Middleware of the connections of a silo. May be configured several times; what is added first runs first and wraps the rest. Middleware
/// runs on the thread pool, for each connection; a connection without middleware does not know of it. With <c>UseTls</c> it sees plain
/// bytes.
/// </summary>
public class SiloConnectionOptions : SiloConnectionOptions.ISiloConnectionBuilderOptions
{
    private readonly List<Action<IConnectionBuilder>> _siloOutbound = [];
    private readonly List<Action<IConnectionBuilder>> _siloInbound = [];
    private readonly List<Action<IConnectionBuilder>> _gatewayInbound = [];

    /// <summary>The three chains of a silo, for what builds them.</summary>
    public interface ISiloConnectionBuilderOptions
    {
        /// <summary>Adds the middleware of connections that the silo makes to other silos.</summary>
        void ConfigureSiloOutboundBuilder(IConnectionBuilder builder);

        /// <summary>Adds the middleware of connections that the silo accepts from other silos.</summary>
        void ConfigureSiloInboundBuilder(IConnectionBuilder builder);

        /// <summary>Adds the middleware of connections that the silo accepts from clients.</summary>
        void ConfigureGatewayInboundBuilder(IConnectionBuilder builder);
    }

    /// <summary>Middleware of connections that the silo makes to other silos.</summary>
    public void ConfigureSiloOutboundConnection(Action<IConnectionBuilder> configure) => Add(_siloOutbound, configure);

    /// <summary>Middleware of connections that the silo accepts from other silos.</summary>
    public void ConfigureSiloInboundConnection(Action<IConnectionBuilder> configure) => Add(_siloInbound, configure);

    /// <summary>Middleware of connections that the silo accepts from clients.</summary>
    public void ConfigureGatewayInboundConnection(Action<IConnectionBuilder> configure) => Add(_gatewayInbound, configure);

    void ISiloConnectionBuilderOptions.ConfigureSiloOutboundBuilder(IConnectionBuilder builder)
        => _siloOutbound.ForEach(configure => configure(builder));

    void ISiloConnectionBuilderOptions.ConfigureSiloInboundBuilder(IConnectionBuilder builder)
        => _siloInbound.ForEach(configure => configure(builder));

    void ISiloConnectionBuilderOptions.ConfigureGatewayInboundBuilder(IConnectionBuilder builder)
        => _gatewayInbound.ForEach(configure => configure(builder));

    internal static void Add(List<Action<IConnectionBuilder>> all, Action<IConnectionBuilder> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        all.Add(configure);
    }
}

/// <summary>Middleware of the connections of a client; otherwise as <see cref="SiloConnectionOptions"/>.</summary>
public class ClientConnectionOptions
{
    private readonly List<Action<IConnectionBuilder>> _outbound = [];

    /// <summary>Middleware of connections that the client makes to gateways.</summary>
    public void ConfigureConnection(Action<IConnectionBuilder> configure) => SiloConnectionOptions.Add(_outbound, configure);

    internal void ConfigureBuilder(IConnectionBuilder builder) => _outbound.ForEach(configure => configure(builder));
}
