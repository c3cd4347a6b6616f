using ActOp.Runtime.Nodes.Tls;
using Orleans.Connections.Security;

namespace ActOp.Configuration;

/// <summary>Certificates of TLS from files.</summary>
public static class TlsCertificateFiles
{
    /// <summary>
    /// Uses the certificate in a PEM file, and its private key in the same or another one. At each handshake the time and the length of the
    /// files are compared with those that were read last; if they have changed, the files are read again, so that a renewed certificate
    /// needs no restart. Files that cannot be read leave the certificate as it is, with a warning in the log.
    /// </summary>
    /// <param name="options">The options of TLS.</param>
    /// <param name="certificatePath">
    /// The certificate, followed by the intermediate ones that lead to the root, if there are any.
    /// </param>
    /// <param name="keyPath">The private key, not encrypted; null if it is in the same file.</param>
    /// <returns>The options.</returns>
    public static TlsOptions UseCertificateFiles(this TlsOptions options, string certificatePath, string? keyPath = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        ArgumentException.ThrowIfNullOrEmpty(certificatePath);
        options.Source = new FileCertificate(certificatePath, keyPath ?? certificatePath);
        return options;
    }
}
