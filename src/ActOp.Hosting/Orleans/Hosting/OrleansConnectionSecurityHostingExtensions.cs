using System.Security.Cryptography.X509Certificates;
using ActOp.Runtime.Nodes.Tls;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Connections.Security;

namespace Orleans.Hosting;

/// <summary>
/// TLS for silos and clients. All nodes of a cluster use it or none: an end without TLS is refused. The last call counts.
/// </summary>
public static class OrleansConnectionSecurityHostingExtensions
{
    /// <summary>Uses TLS on both ports of the silo and for all that it dials.</summary>
    /// <exception cref="InvalidOperationException">There is no certificate.</exception>
    /// <exception cref="ArgumentException">A certificate has no private key.</exception>
    public static ISiloBuilder UseTls(this ISiloBuilder builder, Action<TlsOptions> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton(Configured(null, configureOptions, needsCertificate: true));
        return builder;
    }

    /// <summary>Uses TLS with the certificate of a store, which is looked up again as time passes.</summary>
    /// <inheritdoc cref="UseTls(ISiloBuilder, Action{TlsOptions})"/>
    public static ISiloBuilder UseTls(
        this ISiloBuilder builder,
        StoreName storeName,
        string subject,
        bool allowInvalid,
        StoreLocation location,
        Action<TlsOptions> configureOptions)
        => builder.UseTls(FromStore(new StoreCertificate(subject, storeName, location, allowInvalid, server: true), configureOptions));

    /// <summary>Uses TLS with a certificate.</summary>
    /// <inheritdoc cref="UseTls(ISiloBuilder, Action{TlsOptions})"/>
    public static ISiloBuilder UseTls(this ISiloBuilder builder, X509Certificate2 certificate, Action<TlsOptions> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(certificate);
        builder.Services.AddSingleton(Configured(certificate, configureOptions, needsCertificate: true));
        return builder;
    }

    /// <summary>Uses TLS with a certificate.</summary>
    /// <inheritdoc cref="UseTls(ISiloBuilder, Action{TlsOptions})"/>
    public static ISiloBuilder UseTls(this ISiloBuilder builder, X509Certificate2 certificate)
        => builder.UseTls(certificate, static _ => { });

    /// <summary>
    /// Uses TLS for all that the client dials. A certificate is needed only if <see cref="TlsOptions.ClientCertificateMode"/> is
    /// <c>RequireCertificate</c>.
    /// </summary>
    /// <inheritdoc cref="UseTls(ISiloBuilder, Action{TlsOptions})"/>
    public static IClientBuilder UseTls(this IClientBuilder builder, Action<TlsOptions> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton(Configured(null, configureOptions, needsCertificate: false));
        return builder;
    }

    /// <summary>Uses TLS with the certificate of a store, which is looked up again as time passes.</summary>
    /// <inheritdoc cref="UseTls(ISiloBuilder, Action{TlsOptions})"/>
    public static IClientBuilder UseTls(
        this IClientBuilder builder,
        StoreName storeName,
        string subject,
        bool allowInvalid,
        StoreLocation location,
        Action<TlsOptions> configureOptions)
        => builder.UseTls(FromStore(new StoreCertificate(subject, storeName, location, allowInvalid, server: false), configureOptions));

    /// <summary>Uses TLS with a certificate.</summary>
    /// <inheritdoc cref="UseTls(ISiloBuilder, Action{TlsOptions})"/>
    public static IClientBuilder UseTls(this IClientBuilder builder, X509Certificate2 certificate, Action<TlsOptions> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(certificate);
        builder.Services.AddSingleton(Configured(certificate, configureOptions, needsCertificate: false));
        return builder;
    }

    /// <summary>Uses TLS with a certificate.</summary>
    /// <inheritdoc cref="UseTls(ISiloBuilder, Action{TlsOptions})"/>
    public static IClientBuilder UseTls(this IClientBuilder builder, X509Certificate2 certificate)
        => builder.UseTls(certificate, static _ => { });

    private static Action<TlsOptions> FromStore(StoreCertificate source, Action<TlsOptions> configureOptions)
    {
        ArgumentNullException.ThrowIfNull(configureOptions);
        return options =>
        {
            options.Source = source;
            configureOptions(options);
        };
    }

    private static NodeTls Configured(X509Certificate2? certificate, Action<TlsOptions> configureOptions, bool needsCertificate)
    {
        ArgumentNullException.ThrowIfNull(configureOptions);
        var options = new TlsOptions { LocalCertificate = certificate };
        configureOptions(options);
        Check(options, needsCertificate);
        return new NodeTls(options);
    }

    /// <summary>Refuses options without a certificate that is needed and can be used; reads it.</summary>
    internal static void Check(TlsOptions options, bool needsCertificate)
    {
        var hasNone = options.LocalCertificate is null && options.Source is null
            && options.LocalServerCertificateSelector is null
            && (needsCertificate || options.LocalClientCertificateSelector is null);
        if (hasNone && (needsCertificate || options.ClientCertificateMode == RemoteCertificateMode.RequireCertificate))
        {
            throw new InvalidOperationException(
                "TLS needs a certificate: set TlsOptions.LocalCertificate or LocalServerCertificateSelector, or call UseCertificateFiles.");
        }

        if (options.LocalCertificate is { HasPrivateKey: false } keyless)
        {
            throw new ArgumentException(
                "The certificate " + keyless.Subject + " (TlsOptions.LocalCertificate) has no private key.", nameof(options));
        }

        options.Source?.Load();
    }
}
