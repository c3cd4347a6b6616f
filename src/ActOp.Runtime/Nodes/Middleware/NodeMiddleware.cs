using System.Globalization;
using System.IO.Pipelines;
using System.Net;
using ActOp.Mesh;
using ActOp.Mesh.Transports.Piped;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace ActOp.Runtime.Nodes.Middleware;

/// <summary>
/// The middleware of a node's connections: builds the chains of <see cref="SiloConnectionOptions"/> and
/// <see cref="ClientConnectionOptions"/> once, at start, and puts them over the node's transport. A node without middleware keeps the
/// transport that it has; so do the connections of a role without middleware.
/// <para>Owns the chains. A chain that cannot be built (a middleware that is not among the services) fails the start. Connections run them
/// on the thread pool; on a node with a <see cref="NodeSeams.Driver"/> on its thread.</para>
/// </summary>
internal static class NodeMiddleware
{
    /// <summary>The setup of a node with its middleware.</summary>
    internal static NodeSetup Applied(NodeSetup setup)
    {
        var isSilo = !setup.Address.IsClient;
        var (gateway, silo, dialled) = isSilo ? OfSilo(setup.Services) : (null, null, OfClient(setup.Services));
        if ((gateway ?? silo ?? dialled) is null)
            return setup;
        var settings = new PipedSettings
        {
            Accepted = endPoint => Run(IsGateway(setup, endPoint) ? gateway : silo, isSilo, IsGateway(setup, endPoint)),
            Dialled = Run(dialled, isSilo, isGateway: false),
            // Middleware is code of the application, which may block.
            Scheduler = setup.Driver is null ? PipeScheduler.ThreadPool : PipeScheduler.Inline,
            Time = setup.Time,
        };
        var log = setup.Loggers.CreateLogger<PipedTransport>();
        return setup with { Transport = new PipedTransport(setup.Transport, settings, log) };
    }

    private static (ConnectionDelegate? Gateway, ConnectionDelegate? Silo, ConnectionDelegate? Dialled) OfSilo(IServiceProvider services)
        => services.GetService<IOptions<SiloConnectionOptions>>()?.Value is SiloConnectionOptions.ISiloConnectionBuilderOptions options
            ? (Build(services, options.ConfigureGatewayInboundBuilder), Build(services, options.ConfigureSiloInboundBuilder),
                Build(services, options.ConfigureSiloOutboundBuilder))
            : default;

    private static ConnectionDelegate? OfClient(IServiceProvider services)
        => services.GetService<IOptions<ClientConnectionOptions>>()?.Value is { } options
            ? Build(services, options.ConfigureBuilder) : null;

    private static ConnectionDelegate? Build(IServiceProvider services, Action<IConnectionBuilder> configure)
    {
        var builder = new ChainBuilder(services);
        configure(builder);
        return builder.IsEmpty ? null : builder.Build();
    }

    private static bool IsGateway(NodeSetup setup, EndPoint endPoint) => Array.Exists(
        setup.Listens, listen => ReferenceEquals(listen.EndPoint, endPoint) && listen.Accepts == NodeKind.Client);

    private static Func<PipedConnection, Task>? Run(ConnectionDelegate? chain, bool isSilo, bool isGateway)
        => chain is null ? null : connection => chain(new MiddlewareConnection(connection, isSilo, isGateway));

    /// <summary>A chain whose end is the link.</summary>
    private sealed class ChainBuilder(IServiceProvider services) : IConnectionBuilder
    {
        private readonly List<Func<ConnectionDelegate, ConnectionDelegate>> _steps = [];

        public IServiceProvider ApplicationServices => services;

        public bool IsEmpty => _steps.Count == 0;

        public IConnectionBuilder Use(Func<ConnectionDelegate, ConnectionDelegate> middleware)
        {
            ArgumentNullException.ThrowIfNull(middleware);
            _steps.Add(middleware);
            return this;
        }

        public ConnectionDelegate Build()
        {
            ConnectionDelegate chain = MiddlewareConnection.CarryAsync;
            for (var step = _steps.Count - 1; step >= 0; step--)
                chain = _steps[step](chain);
            return chain;
        }
    }
}

/// <summary>
/// A connection as middleware sees it. Owns its features and items, which go with it; the bytes and the end belong to the
/// <see cref="PipedConnection"/>. Of the middleware of one connection, which uses it as it uses any context: one step at a time.
/// </summary>
internal sealed class MiddlewareConnection : ConnectionContext, IConnectionIdFeature, IConnectionTransportFeature,
    IConnectionItemsFeature, IConnectionLifetimeFeature, IConnectionEndPointFeature
{
    private static long s_last;

    private readonly PipedConnection _connection;

    public MiddlewareConnection(PipedConnection connection, bool isSilo, bool isGateway)
    {
        _connection = connection;
        IsSilo = isSilo;
        IsGateway = isGateway;
        ConnectionId = Interlocked.Increment(ref s_last).ToString(CultureInfo.InvariantCulture);
        Transport = connection.Transport;
        ConnectionClosed = connection.Closed;
        LocalEndPoint = connection.LocalEndPoint;
        RemoteEndPoint = connection.RemoteEndPoint;
        Features.Set(this);
        Features.Set<IConnectionIdFeature>(this);
        Features.Set<IConnectionTransportFeature>(this);
        Features.Set<IConnectionItemsFeature>(this);
        Features.Set<IConnectionLifetimeFeature>(this);
        Features.Set<IConnectionEndPointFeature>(this);
        if (connection.Tls is { } tls)
            TlsFeatures.Set(Features, tls);
    }

    public override string ConnectionId { get; set; }

    public override IFeatureCollection Features { get; } = new FeatureCollection();

    public override IDictionary<object, object?> Items { get; set; } = new ConnectionItems();

    public override IDuplexPipe Transport { get; set; }

    public override CancellationToken ConnectionClosed { get; set; }

    public override EndPoint? LocalEndPoint { get; set; }

    public override EndPoint? RemoteEndPoint { get; set; }

    /// <summary>Whether this node is a silo.</summary>
    internal bool IsSilo { get; }

    /// <summary>Whether a client has connected.</summary>
    internal bool IsGateway { get; }

    public override void Abort() => _connection.Abort();

    public override void Abort(ConnectionAbortedException abortReason) => _connection.Abort(abortReason);

    public override ValueTask DisposeAsync()
    {
        if (!_connection.Closed.IsCancellationRequested)
            _connection.Abort(new ConnectionAbortedException("it was disposed."));
        return ValueTask.CompletedTask;
    }

    /// <summary>The end of a chain. The context may be one that middleware has put around ours.</summary>
    internal static Task CarryAsync(ConnectionContext context) => context.Features.Get<MiddlewareConnection>() is { } own
        ? own._connection.CarryAsync(context.Transport)
        : throw new InvalidOperationException(
            "The context that reached the end of the middleware has not the features of the connection.");
}
