using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using ActOp.Configuration;
using Orleans.Connections.Security;

namespace ActOp.Bench.Hosting;

/// <summary>A certificate in a file, made for one run of the benchmarks: all processes show it and accept no other.</summary>
internal sealed class BenchCertificate : IDisposable
{
    private BenchCertificate(string path) => Path = path;

    internal string Path { get; }

    internal static BenchCertificate Create()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=ActOp.Bench", key, HashAlgorithmName.SHA256);
        var now = TimeProvider.System.GetUtcNow();
        using var certificate = request.CreateSelfSigned(now.AddDays(-1), now.AddDays(1));
        var path = System.IO.Path.GetTempFileName();
        File.WriteAllText(path, certificate.ExportCertificatePem() + "\n" + key.ExportPkcs8PrivateKeyPem());
        return new BenchCertificate(path);
    }

    /// <summary>Uses the certificate in a file.</summary>
    internal static void Use(TlsOptions options, string path)
    {
        options.UseCertificateFiles(path);
        var expected = X509Certificate2.CreateFromPemFile(path).Thumbprint;
        options.RemoteCertificateValidation = (certificate, _, _) => certificate.Thumbprint == expected;
    }

    public void Dispose() => File.Delete(Path);
}
