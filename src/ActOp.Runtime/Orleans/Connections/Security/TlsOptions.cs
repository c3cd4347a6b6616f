using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using ActOp.Runtime.Nodes.Tls;
using Microsoft.AspNetCore.Connections;

namespace Orleans.Connections.Security;

/// <summary>
/// TLS of a silo or client. All connections of the node use it: both ports of a silo and everything that it dials. All certificates are
/// asked for at each handshake, so that a change applies to the next connection; connections that are open continue.
/// </summary>
/// <remarks>
/// The callbacks run on the thread pool, not on threads of the silo. One that throws ends its connection; one that does not return ends it
/// after <see cref="HandshakeTimeout"/>, but holds its thread.
/// </remarks>
public class TlsOptions
{
    private TimeSpan _handshakeTimeout = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The certificate, with its private key, of this node: shown to diallers, and to listeners that ask for one. A silo needs one that
    /// allows both (server and client authentication), or that does not restrict its use.
    /// </summary>
    public X509Certificate2? LocalCertificate { get; set; }

    /// <summary>
    /// Selects the certificate of each accepted connection, by the name that the dialler expects (null if it names none). Takes precedence
    /// over <see cref="LocalCertificate"/>. A silo without <see cref="LocalClientCertificateSelector"/> also shows what this selects (for
    /// no name) when it dials.
    /// </summary>
    public Func<ConnectionContext, string?, X509Certificate2>? LocalServerCertificateSelector { get; set; }

    /// <summary>
    /// Selects the certificate of each dialled connection, or none. Its arguments: the stream, the expected host, the local certificates,
    /// the certificate of the other end if it is known yet, and the issuers that it accepts. Takes precedence over
    /// <see cref="LocalCertificate"/>.
    /// </summary>
    public Func<object, string, X509CertificateCollection, X509Certificate?, string[], X509Certificate2?>? LocalClientCertificateSelector
    {
        get;
        set;
    }

    /// <summary>Whether the listeners that this node dials must show a certificate. Default <c>RequireCertificate</c>.</summary>
    public RemoteCertificateMode RemoteCertificateMode { get; set; } = RemoteCertificateMode.RequireCertificate;

    /// <summary>
    /// Whether diallers must show a certificate. Default <c>AllowCertificate</c> on the gateway and, unlike in Orleans,
    /// <c>RequireCertificate</c> on the silo port: whoever reaches that port becomes a member of the cluster. A value that is set applies
    /// to both ports.
    /// </summary>
    public RemoteCertificateMode ClientCertificateMode
    {
        get => ClientModeSet ?? RemoteCertificateMode.AllowCertificate;
        set => ClientModeSet = value;
    }

    /// <summary>
    /// Decides about the certificate of the other end, whatever errors were found. Null accepts certificates without errors: valid now, for
    /// the expected host (of a listener), and by a root that this machine trusts.
    /// </summary>
    public RemoteCertificateValidator? RemoteCertificateValidation { get; set; }

    /// <summary>The versions of TLS. Default 1.2 and 1.3.</summary>
    public SslProtocols SslProtocols { get; set; } = SslProtocols.Tls12 | SslProtocols.Tls13;

    /// <summary>Whether to ask the issuer for revoked certificates, which may take long. Default false.</summary>
    public bool CheckCertificateRevocation { get; set; }

    /// <summary>Called before each handshake of an accepted connection; may change its options.</summary>
    public Action<ConnectionContext, TlsServerAuthenticationOptions>? OnAuthenticateAsServer { get; set; }

    /// <summary>
    /// Called before each handshake of a dialled connection; may change its options.
    /// <see cref="TlsClientAuthenticationOptions.TargetHost"/>, the name that the certificate must have, is the host that was dialled,
    /// usually an IP address.
    /// </summary>
    public Action<ConnectionContext, TlsClientAuthenticationOptions>? OnAuthenticateAsClient { get; set; }

    /// <summary>
    /// The limit of the handshake of a connection, that of TLS and that of the cluster together. Default 10 s; may be infinite.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">It is not positive.</exception>
    public TimeSpan HandshakeTimeout
    {
        get => _handshakeTimeout;
        set
        {
            if (value <= TimeSpan.Zero && value != Timeout.InfiniteTimeSpan)
                throw new ArgumentOutOfRangeException(nameof(value), "TlsOptions.HandshakeTimeout must be positive, but is " + value + ".");
            _handshakeTimeout = value;
        }
    }

    /// <summary><see cref="ClientCertificateMode"/> as far as it was set.</summary>
    internal RemoteCertificateMode? ClientModeSet { get; private set; }

    /// <summary>A certificate that is read again when it changes; takes precedence over <see cref="LocalCertificate"/>.</summary>
    internal CertificateSource? Source { get; set; }

    /// <summary>Accepts every certificate. The connection is then encrypted, but not with anybody in particular.</summary>
    public void AllowAnyRemoteCertificate() => RemoteCertificateValidation = static (_, _, _) => true;
}

/// <summary>Whether the other end of a connection must show a certificate.</summary>
public enum RemoteCertificateMode
{
    /// <summary>It is not asked for one.</summary>
    NoCertificate = 0,

    /// <summary>It may show one, which must then be good.</summary>
    AllowCertificate = 1,

    /// <summary>It must show a good one.</summary>
    RequireCertificate = 2,
}

/// <summary>Decides about the certificate of the other end.</summary>
/// <param name="certificate">The certificate.</param>
/// <param name="chain">Its issuers, as far as they were found.</param>
/// <param name="policyErrors">What is wrong with it.</param>
/// <returns>Whether the connection is accepted.</returns>
public delegate bool RemoteCertificateValidator(X509Certificate2 certificate, X509Chain? chain, SslPolicyErrors policyErrors);

/// <summary>Selects the certificate of an accepted connection.</summary>
/// <param name="sender">The stream.</param>
/// <param name="hostName">The name that the dialler expects, if it names one.</param>
public delegate X509Certificate ServerCertificateSelectionCallback(object sender, string? hostName);

/// <summary>Selects the certificate of a dialled connection, or none.</summary>
/// <param name="sender">The stream.</param>
/// <param name="targetHost">The expected host.</param>
/// <param name="localCertificates">The local certificates.</param>
/// <param name="remoteCertificate">The certificate of the other end, if it is known yet.</param>
/// <param name="acceptableIssuers">The issuers that the other end accepts.</param>
public delegate X509Certificate? ClientCertificateSelectionCallback(
    object sender,
    string targetHost,
    X509CertificateCollection localCertificates,
    X509Certificate? remoteCertificate,
    string[] acceptableIssuers);

/// <summary>The options of one handshake of an accepted connection.</summary>
public class TlsServerAuthenticationOptions
{
    private readonly SslServerAuthenticationOptions _options;

    internal TlsServerAuthenticationOptions(SslServerAuthenticationOptions options) => _options = options;

    /// <summary>The certificate that is shown.</summary>
    public X509Certificate? ServerCertificate
    {
        get => _options.ServerCertificate ?? _options.ServerCertificateContext?.TargetCertificate;
        set
        {
            _options.ServerCertificateContext = null;
            _options.ServerCertificate = value;
        }
    }

    /// <summary>Selects the certificate that is shown.</summary>
    public ServerCertificateSelectionCallback? ServerCertificateSelectionCallback
    {
        get => _options.ServerCertificateSelectionCallback is { } select ? new ServerCertificateSelectionCallback(select) : null;
        set
        {
            if (value is not null)
            {
                _options.ServerCertificateContext = null;
                _options.ServerCertificate = null;
            }

            _options.ServerCertificateSelectionCallback = value is null
                ? null : new System.Net.Security.ServerCertificateSelectionCallback(value);
        }
    }

    /// <summary>Whether the dialler is asked for a certificate.</summary>
    public bool ClientCertificateRequired
    {
        get => _options.ClientCertificateRequired;
        set => _options.ClientCertificateRequired = value;
    }

    /// <summary>The versions of TLS.</summary>
    public SslProtocols EnabledSslProtocols
    {
        get => _options.EnabledSslProtocols;
        set => _options.EnabledSslProtocols = value;
    }

    /// <summary>Whether and where revoked certificates are looked up.</summary>
    public X509RevocationMode CertificateRevocationCheckMode
    {
        get => _options.CertificateRevocationCheckMode;
        set => _options.CertificateRevocationCheckMode = value;
    }

    /// <summary>The <see cref="System.Net.Security.SslServerAuthenticationOptions"/> behind this object.</summary>
    public object SslServerAuthenticationOptions => _options;
}

/// <summary>The options of one handshake of a dialled connection.</summary>
public class TlsClientAuthenticationOptions
{
    private readonly SslClientAuthenticationOptions _options;

    internal TlsClientAuthenticationOptions(SslClientAuthenticationOptions options) => _options = options;

    /// <summary>
    /// The name that the certificate of the listener must have. Default: the host that was dialled, usually an IP address.
    /// </summary>
    public string? TargetHost
    {
        get => _options.TargetHost;
        set => _options.TargetHost = value;
    }

    /// <summary>The certificates to select from.</summary>
    public X509CertificateCollection? ClientCertificates
    {
        get => _options.ClientCertificates;
        set
        {
            _options.ClientCertificateContext = null;
            _options.ClientCertificates = value;
        }
    }

    /// <summary>Selects the certificate that is shown, or none.</summary>
    public ClientCertificateSelectionCallback? LocalCertificateSelectionCallback
    {
        get => _options.LocalCertificateSelectionCallback is { } select ? new ClientCertificateSelectionCallback(select) : null;
        set
        {
            _options.ClientCertificateContext = value is null ? _options.ClientCertificateContext : null;
            _options.LocalCertificateSelectionCallback = value is null ? null : new LocalCertificateSelectionCallback(value!);
        }
    }

    /// <summary>The versions of TLS.</summary>
    public SslProtocols EnabledSslProtocols
    {
        get => _options.EnabledSslProtocols;
        set => _options.EnabledSslProtocols = value;
    }

    /// <summary>Whether and where revoked certificates are looked up.</summary>
    public X509RevocationMode CertificateRevocationCheckMode
    {
        get => _options.CertificateRevocationCheckMode;
        set => _options.CertificateRevocationCheckMode = value;
    }

    /// <summary>The <see cref="System.Net.Security.SslClientAuthenticationOptions"/> behind this object.</summary>
    public object SslClientAuthenticationOptions => _options;
}

/// <summary>Finds certificates in the stores of the machine.</summary>
public static class CertificateLoader
{
    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1";
    private const string ClientAuthentication = "1.3.6.1.5.5.7.3.2";

    /// <summary>The certificate of a subject, with its private key; of several the one that is valid longest.</summary>
    /// <param name="subject">A part of the subject's name.</param>
    /// <param name="storeName">The store, for instance <c>My</c>.</param>
    /// <param name="storeLocation">Whose store.</param>
    /// <param name="allowInvalid">Whether it may be expired or of an issuer that this machine does not trust.</param>
    /// <param name="server">Whether it must allow server authentication, and not client authentication.</param>
    /// <exception cref="InvalidOperationException">There is none.</exception>
    public static X509Certificate2 LoadFromStoreCert(
        string subject, string storeName, StoreLocation storeLocation, bool allowInvalid, bool server)
    {
        using var store = new X509Store(storeName, storeLocation);
        store.Open(OpenFlags.ReadOnly);
        var found = store.Certificates.Find(X509FindType.FindBySubjectName, subject, !allowInvalid)
            .Where(certificate => certificate.HasPrivateKey && Allows(certificate, server ? ServerAuthentication : ClientAuthentication))
            .OrderByDescending(static certificate => certificate.NotAfter)
            .FirstOrDefault();
        return found ?? throw new InvalidOperationException(
            "There is no certificate of " + subject + " with a private key in the store " + storeName + " of " + storeLocation
                + (allowInvalid ? "." : ", or it is not valid."));
    }

    private static bool Allows(X509Certificate2 certificate, string usage)
    {
        var restrictions = certificate.Extensions.OfType<X509EnhancedKeyUsageExtension>().ToList();
        return restrictions.Count == 0
            || restrictions.Exists(one => one.EnhancedKeyUsages.Cast<System.Security.Cryptography.Oid>().Any(oid => oid.Value == usage));
    }
}
