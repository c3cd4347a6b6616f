using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using ActOp.Configuration;
using Microsoft.Extensions.Configuration;
using Orleans.Connections.Security;
using Orleans.Hosting;
using Orleans.Runtime;

namespace ActOp.Hosting;

/// <summary>
/// The configuration section <c>ActOp:Tls</c>: TLS by files, as an orchestrator mounts them. <c>CertificatePath</c> and <c>KeyPath</c> as
/// for <c>UseCertificateFiles</c>; <c>AuthorityPath</c>, the roots that certificates of others must come from (else those that the machine
/// trusts); <c>TargetHost</c>, the name in the certificates of the silos. All files are read again when they change.
/// </summary>
/// <remarks>
/// Runs while the host is composed, and fails then if a file cannot be read. What the application sets in code afterwards has precedence.
/// </remarks>
internal static class TlsSection
{
    private const string Section = "ActOp:Tls";

    internal static void Apply(ISiloBuilder silo) => Apply(silo.Configuration, options => silo.UseTls(options));

    internal static void Apply(IClientBuilder client) => Apply(client.Configuration, options => client.UseTls(options));

    private static void Apply(IConfiguration configuration, Action<Action<TlsOptions>> use)
    {
        var section = configuration.GetSection(Section);
        if (!section.Exists())
            return;
        var certificate = section["CertificatePath"];
        if (string.IsNullOrEmpty(certificate) && !string.IsNullOrEmpty(section["KeyPath"]))
            throw new OrleansConfigurationException(Section + ":KeyPath is set, but " + Section + ":CertificatePath is not.");
        use(options =>
        {
            if (!string.IsNullOrEmpty(certificate))
                options.UseCertificateFiles(certificate, section["KeyPath"]);
            if (section["AuthorityPath"] is { Length: > 0 } authority)
                options.RemoteCertificateValidation = new AuthorityFile(authority).Accepts;
            if (section["TargetHost"] is { Length: > 0 } host)
                options.OnAuthenticateAsClient = (_, tls) => tls.TargetHost = host;
        });
    }

    /// <summary>Roots in a PEM file. Certificates that do not come from one of them are refused, also if the machine trusts them.</summary>
    /// <remarks>
    /// Threads of handshakes. The file is read at each handshake; while it cannot be read, as in the midst of a renewal, the roots that
    /// were read last count.
    /// </remarks>
    private sealed class AuthorityFile
    {
        private readonly string _path;
        private volatile X509Certificate2Collection _roots;

        internal AuthorityFile(string path) => (_path, _roots) = (path, Read(path));

        internal bool Accepts(X509Certificate2 certificate, X509Chain? chain, SslPolicyErrors errors)
        {
            // The name, or no certificate at all; and of the chain, what is wrong beside its root.
            if ((errors & ~SslPolicyErrors.RemoteCertificateChainErrors) != 0 || (chain is not null && HasOtherErrors(chain)))
                return false;
            using var own = new X509Chain();
            own.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
            own.ChainPolicy.CustomTrustStore.AddRange(Roots());
            own.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
            foreach (var element in chain?.ChainElements ?? Enumerable.Empty<X509ChainElement>())
                own.ChainPolicy.ExtraStore.Add(element.Certificate);
            return own.Build(certificate);
        }

        private static bool HasOtherErrors(X509Chain chain) => chain.ChainStatus.Any(static one =>
            (one.Status & ~(X509ChainStatusFlags.UntrustedRoot | X509ChainStatusFlags.PartialChain
                | X509ChainStatusFlags.RevocationStatusUnknown | X509ChainStatusFlags.OfflineRevocation)) != 0);

        private X509Certificate2Collection Roots()
        {
            try
            {
                _roots = Read(_path);
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or CryptographicException
                or OrleansConfigurationException)
            {
                // See the remarks.
            }

            return _roots;
        }

        private static X509Certificate2Collection Read(string path)
        {
            var roots = new X509Certificate2Collection();
            roots.ImportFromPemFile(path);
            return roots.Count > 0
                ? roots : throw new OrleansConfigurationException(Section + ":AuthorityPath: there is no certificate in " + path + ".");
        }
    }
}
