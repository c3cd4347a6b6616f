#pragma warning disable RS0030 // Callbacks of the application, which may block, run on the thread pool and not on threads of the silo.
using System.Globalization;
using System.IO.Pipelines;
using System.Net;
using System.Net.Security;
using System.Runtime.CompilerServices;
using System.Security.Cryptography.X509Certificates;
using ActOp.Foundation;
using ActOp.Mesh;
using ActOp.Mesh.Transports.Tls;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Orleans.Connections.Security;

namespace ActOp.Runtime.Nodes.Tls;

/// <summary>
/// The TLS of a node, in the streams of its mesh. Registered by <c>UseTls</c>; without it nothing of this exists.
/// <para>Owns nothing but its <see cref="TlsAuthentication"/>. Handshakes call it on pool threads, many at a time; a node with a
/// <see cref="NodeSeams.Driver"/> calls it on its own.</para>
/// </summary>
internal sealed class NodeTls(TlsOptions options)
{
    private TlsAuthentication _tls = null!;
    private int _gatewayPort;
    private bool _isSilo;

    /// <summary>The setup of a node over TLS.</summary>
    internal NodeSetup Applied(NodeSetup setup)
    {
        _tls = new TlsAuthentication(options, setup.Time, new Log(setup.Loggers.CreateLogger("ActOp.Runtime")));
        _isSilo = !setup.Address.IsClient;
        var gateway = Array.Find(setup.Listens, static listen => listen.Accepts == NodeKind.Client).EndPoint;
        _gatewayPort = (gateway as IPEndPoint)?.Port ?? 0;
        setup.Mesh.HandshakeTimeout = options.HandshakeTimeout > TimeSpan.Zero ? options.HandshakeTimeout : TimeSpan.FromDays(24);
        var settings = new TlsSettings
        {
            Server = Server,
            Client = connection => _tls.Client(
                new TlsConnectionContext(connection), _isSilo, refusal => connection.Refusal = refusal),
            Run = setup.Driver is null
                ? static step => ThreadPool.UnsafeQueueUserWorkItem(static step => step(), step, preferLocal: false) : null,
        };
        return setup with { Transport = new TlsTransport(setup.Transport, settings, setup.Loggers.CreateLogger<TlsTransport>()) };
    }

    private SslServerAuthenticationOptions Server(TlsConnection connection)
    {
        var isGateway = connection.ListenEndPoint is IPEndPoint { Port: > 0 and var port } && port == _gatewayPort;
        return _tls.Server(new TlsConnectionContext(connection), isGateway, refusal => connection.Refusal = refusal);
    }
}

/// <summary>
/// Turns <see cref="TlsOptions"/> into the options of each handshake.
/// <para>Owns nothing but the contexts of certificates (built once for each, because that searches the chain), which live as long as their
/// certificates. Any thread.</para>
/// </summary>
internal sealed class TlsAuthentication(TlsOptions options, TimeProvider time, Log log)
{
    private readonly ConditionalWeakTable<X509Certificate2, SslStreamCertificateContext> _contexts = [];

    /// <summary>The limit of a handshake; may be infinite.</summary>
    internal TimeSpan Limit => options.HandshakeTimeout;

    internal TimeProvider Time => time;

    /// <summary>For middleware, which is set up before the node.</summary>
    internal static TlsAuthentication ForMiddleware(TlsOptions options, IServiceProvider services) => new(
        options,
        services?.GetService<TimeProvider>() ?? TimeProvider.System,
        new Log(GuardedLoggers.GuardedOf(services).CreateLogger("ActOp.Runtime")));

    /// <summary>The options of an accepted connection.</summary>
    /// <param name="context">For the callbacks.</param>
    /// <param name="isGateway">Whether clients connect there, which need no certificate unless the options say so.</param>
    /// <param name="refuse">Told why a certificate is refused.</param>
    internal SslServerAuthenticationOptions Server(ConnectionContext context, bool isGateway, Action<string> refuse)
    {
        var mode = options.ClientModeSet ?? (isGateway ? RemoteCertificateMode.AllowCertificate : RemoteCertificateMode.RequireCertificate);
        var ssl = new SslServerAuthenticationOptions
        {
            ClientCertificateRequired = mode != RemoteCertificateMode.NoCertificate,
            EnabledSslProtocols = options.SslProtocols,
            CertificateRevocationCheckMode = Revocation,
            // A resumed session would skip the check of certificates, and be one with the certificate before.
            AllowTlsResume = false,
            AllowRenegotiation = false,
            RemoteCertificateValidationCallback =
                (_, certificate, chain, errors) => IsGood(refuse, mode, certificate, chain, errors),
        };
        if (options.LocalServerCertificateSelector is { } select)
            ssl.ServerCertificateSelectionCallback = (_, host) => select(context, host);
        else
            ssl.ServerCertificateContext = Local();
        options.OnAuthenticateAsServer?.Invoke(context, new TlsServerAuthenticationOptions(ssl));
        return ssl;
    }

    /// <summary>The options of a dialled connection.</summary>
    /// <param name="context">For the callbacks; its other end is the name that is expected.</param>
    /// <param name="isSilo">Whether this node is a silo, which shows what it shows to diallers.</param>
    /// <param name="refuse">Told why a certificate is refused.</param>
    internal SslClientAuthenticationOptions Client(ConnectionContext context, bool isSilo, Action<string> refuse)
    {
        var ssl = new SslClientAuthenticationOptions
        {
            TargetHost = context.RemoteEndPoint switch
            {
                DnsEndPoint named => named.Host,
                IPEndPoint address => address.Address.ToString(),
                _ => "",
            },
            EnabledSslProtocols = options.SslProtocols,
            CertificateRevocationCheckMode = Revocation,
            AllowTlsResume = false,
            AllowRenegotiation = false,
            RemoteCertificateValidationCallback =
                (_, certificate, chain, errors) => IsGood(refuse, options.RemoteCertificateMode, certificate, chain, errors),
        };
        if (options.LocalClientCertificateSelector is { } select)
        {
            ssl.LocalCertificateSelectionCallback =
                (sender, host, locals, remote, issuers) => select(sender, host, locals, remote, issuers)!;
        }
        else if (isSilo && options.LocalServerCertificateSelector is { } selectServer)
        {
            ssl.ClientCertificateContext = ContextOf(selectServer(context, null));
        }
        else
        {
            ssl.ClientCertificateContext = Local();
        }

        options.OnAuthenticateAsClient?.Invoke(context, new TlsClientAuthenticationOptions(ssl));
        return ssl;
    }

    private X509RevocationMode Revocation
        => options.CheckCertificateRevocation ? X509RevocationMode.Online : X509RevocationMode.NoCheck;

    private SslStreamCertificateContext? Local()
        => options.Source is { } source ? source.Current(time, log)
            : options.LocalCertificate is { } certificate ? ContextOf(certificate)
            : null;

    private SslStreamCertificateContext ContextOf(X509Certificate2 certificate)
        => _contexts.GetValue(certificate, static certificate => SslStreamCertificateContext.Create(certificate, null, offline: true));

    private bool IsGood(
        Action<string> refuse, RemoteCertificateMode mode, X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (certificate is not X509Certificate2 remote)
        {
            refuse("the other end has shown no certificate.");
            return mode != RemoteCertificateMode.RequireCertificate;
        }

        var good = options.RemoteCertificateValidation is { } validate ? validate(remote, chain, errors) : errors == SslPolicyErrors.None;
        if (!good)
        {
            refuse("the certificate " + remote.Subject + " was refused"
                + (errors == SslPolicyErrors.None
                    ? " by TlsOptions.RemoteCertificateValidation."
                    : ": " + Describe(remote, chain, errors)));
        }

        return good;
    }

    private static string Describe(X509Certificate2 certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        var chainErrors = chain?.ChainStatus.Select(static status => status.Status.ToString()).Distinct() ?? [];
        return errors + " (" + string.Join(", ", chainErrors) + "), valid until "
            + certificate.NotAfter.ToUniversalTime().ToString("u", CultureInfo.InvariantCulture) + ".";
    }
}

/// <summary>
/// A connection as the callbacks of <see cref="TlsOptions"/> see it: its ends and a number. Bytes do not pass through it.
/// </summary>
internal sealed class TlsConnectionContext(TlsConnection connection) : ConnectionContext
{
    private static long s_last;

    public override string ConnectionId { get; set; }
        = Interlocked.Increment(ref s_last).ToString(CultureInfo.InvariantCulture);

    public override IFeatureCollection Features { get; } = new FeatureCollection();

    public override IDictionary<object, object?> Items { get; set; } = new Dictionary<object, object?>();

    public override IDuplexPipe Transport
    {
        get => throw new NotSupportedException("The bytes of a connection cannot be read or written by callbacks of TlsOptions.");
        set => throw new NotSupportedException("The bytes of a connection cannot be read or written by callbacks of TlsOptions.");
    }

    public override EndPoint? LocalEndPoint { get; set; } = connection.ListenEndPoint;

    public override EndPoint? RemoteEndPoint { get; set; } = connection.RemoteEndPoint;
}
