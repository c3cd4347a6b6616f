using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Configuration;
using Orleans.Connections.Security;

namespace HaloPresence.Bench.Silos;

/// <summary>What is wrong with the settings of a silo that joins.</summary>
public enum WrongSetting
{
    /// <summary>Another cluster secret.</summary>
    Secret,

    /// <summary>A certificate of another issuer.</summary>
    Certificate,

    /// <summary>Another cluster id: it is a cluster of its own in the same database, and runs. Shows what the processes alone cost.</summary>
    Cluster,

    /// <summary>A schema of the database that does not exist.</summary>
    Schema,

    /// <summary>An address at which nobody reaches it.</summary>
    Address,
}

/// <summary>The secret and the certificates of a cluster whose nodes trust nobody else. Owns two files of a folder.</summary>
/// <param name="Folder">Holds the certificate of the cluster and that of another issuer.</param>
public sealed record ClusterKeys(string Folder)
{
    private const string Secret = "the secret of the cluster";

    /// <summary>Of those that TEST-NET-1 (RFC 5737) keeps free: packets to it go nowhere.</summary>
    private static readonly IPAddress Unreachable = IPAddress.Parse("192.0.2.1");

    /// <summary>How long a silo with a wrong setting tries to join.</summary>
    private static readonly TimeSpan JoinLimit = TimeSpan.FromSeconds(5);

    private string Own => Path.Combine(Folder, "cluster.pfx");

    private string Other => Path.Combine(Folder, "other.pfx");

    /// <summary>Makes both certificates.</summary>
    public static ClusterKeys Create(string folder)
    {
        var keys = new ClusterKeys(folder);
        Write(keys.Own);
        Write(keys.Other);
        return keys;
    }

    /// <summary>Gives a silo the keys, but for what is wrong.</summary>
    public void AddTo(HostApplicationBuilder builder, int port, int gateway, WrongSetting? wrong)
    {
        builder.UseOrleans(silo => silo.UseClusterSecret(wrong == WrongSetting.Secret ? "another secret of a cluster" : Secret)
            .UseTls(options => Configure(options, wrong == WrongSetting.Certificate)));
        if (wrong is null)
            return;
        builder.Services.Configure<ClusterMembershipOptions>(options => options.MaxJoinAttemptTime = JoinLimit);
        if (wrong == WrongSetting.Cluster)
            builder.Services.Configure<ClusterOptions>(options => options.ClusterId = "another cluster");
        if (wrong == WrongSetting.Schema)
            builder.Services.Configure<AdoNetClusteringSiloOptions>(options => options.ConnectionString += ";Search Path=missing");
        if (wrong == WrongSetting.Address)
        {
            builder.Services.Configure<EndpointOptions>(options =>
            {
                options.AdvertisedIPAddress = Unreachable;
                options.SiloListeningEndpoint = new IPEndPoint(IPAddress.Loopback, port);
                options.GatewayListeningEndpoint = new IPEndPoint(IPAddress.Loopback, gateway);
            });
        }
    }

    /// <summary>Gives a client the keys.</summary>
    public void AddTo(IClientBuilder client) => client.UseClusterSecret(Secret).UseTls(options => Configure(options, wrong: false));

    private void Configure(TlsOptions options, bool wrong)
    {
        var own = X509CertificateLoader.LoadPkcs12FromFile(wrong ? Other : Own, null);
        options.LocalCertificate = own;
        options.ClientCertificateMode = RemoteCertificateMode.RequireCertificate;
        options.RemoteCertificateValidation = (certificate, _, _) => certificate.Thumbprint == own.Thumbprint;
    }

    private static void Write(string file)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = DateTimeOffset.UtcNow;
        using var certificate = new CertificateRequest("CN=Halo Presence", key, HashAlgorithmName.SHA256)
            .CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
        File.WriteAllBytes(file, certificate.Export(X509ContentType.Pkcs12));
    }
}
