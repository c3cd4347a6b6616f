using System.Globalization;
using System.IO.Pipelines;
using System.Net;
using ActOp.Mesh.Transports.Piped;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http.Features;

namespace ActOp.Runtime.Hosting.Middleware;

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
