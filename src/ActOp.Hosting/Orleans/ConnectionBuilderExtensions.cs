using ActOp.Runtime.Nodes.Middleware;
using ActOp.Runtime.Nodes.Tls;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Connections.Security;
using Orleans.Hosting;
using Orleans.Runtime.Messaging;

namespace Orleans;

/// <summary>Adds <see cref="IConnectionMiddleware"/> to a chain of connections.</summary>
public static class ConnectionMiddlewareExtensions
{
    /// <summary>Adds an instance, which its caller owns.</summary>
    public static IConnectionBuilder UseMiddleware(this IConnectionBuilder builder, IConnectionMiddleware middleware)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(middleware);
        return builder.Use(next => context => middleware.OnConnectionAsync(context, next));
    }

    /// <summary>Adds the instance among the services of the application; it must be a singleton there.</summary>
    /// <exception cref="InvalidOperationException">There is none.</exception>
    public static IConnectionBuilder UseMiddleware<T>(this IConnectionBuilder builder)
        where T : IConnectionMiddleware
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.Use(next =>
        {
            var middleware = builder.ApplicationServices.GetRequiredService<T>();
            return context => middleware.OnConnectionAsync(context, next);
        });
    }
}

/// <summary>
/// TLS as middleware, for a part of the connections or between other middleware. <c>UseTls</c>, for all connections of a node, costs less
/// and also tells an end of a connection that somebody on the way has caused.
/// </summary>
public static class TlsConnectionBuilderExtensions
{
    /// <summary>TLS of accepted connections. What is added later sees plain bytes.</summary>
    /// <exception cref="InvalidOperationException">There is no certificate.</exception>
    /// <exception cref="ArgumentException">The certificate has no private key.</exception>
    public static void UseServerTls(this IConnectionBuilder builder, TlsOptions options)
        => Use(builder, options, isServer: true);

    /// <summary>TLS of dialled connections. What is added later sees plain bytes.</summary>
    /// <inheritdoc cref="UseServerTls"/>
    public static void UseClientTls(this IConnectionBuilder builder, TlsOptions options)
        => Use(builder, options, isServer: false);

    private static void Use(IConnectionBuilder builder, TlsOptions options, bool isServer)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(options);
        OrleansConnectionSecurityHostingExtensions.Check(options, needsCertificate: isServer);
        var tls = TlsAuthentication.ForMiddleware(options, builder.ApplicationServices);
        var middleware = new TlsMiddleware(tls, isServer);
        builder.Use(next => context => middleware.OnConnectionAsync(context, next));
    }
}
