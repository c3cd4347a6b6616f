using System.Net;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using ActOp.Mesh.Transports;
using ActOp.Mesh.Transports.Tls;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace ActOp.Mesh.Tests;

/// <summary>A root that signs certificates for the tests.</summary>
internal sealed class TestRoot
{
    private static readonly DateTimeOffset Now = TimeProvider.System.GetUtcNow();
    private static int s_serial;

    public TestRoot(string name)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=" + name, key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign, true));
        Certificate = request.CreateSelfSigned(Now.AddYears(-2), Now.AddYears(2));
    }

    public static TestRoot Default { get; } = new("default root");

    public X509Certificate2 Certificate { get; }

    /// <summary>A certificate with a private key for 127.0.0.1, localhost and a name.</summary>
    public X509Certificate2 Issue(string name, string host = "localhost", IPAddress? address = null, int fromDays = -1, int toDays = 1)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=" + name, key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(host);
        names.AddIpAddress(address ?? IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        var number = BitConverter.GetBytes(Interlocked.Increment(ref s_serial));
        using var signed = request.Create(Certificate, Now.AddDays(fromDays), Now.AddDays(toDays), [1, .. number]);
        using var withKey = signed.CopyWithPrivateKey(key);
        return X509CertificateLoader.LoadPkcs12(withKey.Export(X509ContentType.Pfx), null);
    }
}

/// <summary>The TLS settings of one test node: mutual, by one root, changeable at any time.</summary>
internal sealed class TestTls
{
    public X509Certificate2? Certificate { get; set; }

    public TestRoot Root { get; set; } = TestRoot.Default;

    public string? TargetHost { get; set; }

    public bool RequiresClientCertificate { get; set; } = true;

    public System.Security.Authentication.SslProtocols Protocols { get; set; }

    /// <summary>Called by each check of a certificate that the chain and the name would allow.</summary>
    public Func<X509Certificate2, bool>? Check { get; set; }

    /// <summary>Called for each connection.</summary>
    public Action<TlsConnection>? Asked { get; set; }

    /// <summary>Subjects of the certificates that were accepted.</summary>
    public List<string> Seen { get; } = [];

    public Action<Action>? Run { get; set; }

    public Transport Wrap(Transport inner, ILogger? log = null) => new TlsTransport(
        inner, new TlsSettings { Server = Server, Client = Client, Run = Run }, log ?? NullLogger.Instance);

    private SslServerAuthenticationOptions Server(TlsConnection connection)
    {
        Asked?.Invoke(connection);
        return new SslServerAuthenticationOptions
        {
            ServerCertificateContext = SslStreamCertificateContext.Create(Certificate!, null, offline: true),
            ClientCertificateRequired = true,
            EnabledSslProtocols = Protocols,
            AllowTlsResume = false,
            AllowRenegotiation = false,
            CertificateChainPolicy = Policy(),
            RemoteCertificateValidationCallback =
                (_, certificate, _, errors) => Accepts(connection, certificate, errors, RequiresClientCertificate),
        };
    }

    private SslClientAuthenticationOptions Client(TlsConnection connection)
    {
        Asked?.Invoke(connection);
        return new SslClientAuthenticationOptions
        {
            TargetHost = TargetHost ?? ((IPEndPoint)connection.RemoteEndPoint!).Address.ToString(),
            ClientCertificateContext = Certificate is null ? null : SslStreamCertificateContext.Create(Certificate, null, offline: true),
            EnabledSslProtocols = Protocols,
            AllowTlsResume = false,
            AllowRenegotiation = false,
            CertificateChainPolicy = Policy(),
            RemoteCertificateValidationCallback = (_, certificate, _, errors) => Accepts(connection, certificate, errors, true),
        };
    }

    private bool Accepts(TlsConnection connection, X509Certificate? certificate, SslPolicyErrors errors, bool requires)
    {
        if (certificate is not X509Certificate2 remote)
        {
            return !requires;
        }

        if (errors != SslPolicyErrors.None)
        {
            connection.Refusal = errors.ToString();
            return false;
        }

        if (Check?.Invoke(remote) == false)
        {
            return false;
        }

        lock (Seen)
        {
            Seen.Add(remote.Subject);
        }

        return true;
    }

    private X509ChainPolicy Policy()
    {
        var policy = new X509ChainPolicy { TrustMode = X509ChainTrustMode.CustomRootTrust, RevocationMode = X509RevocationMode.NoCheck };
        policy.CustomTrustStore.Add(Root.Certificate);
        return policy;
    }
}
