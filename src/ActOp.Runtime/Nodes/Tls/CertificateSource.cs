using System.Net.Security;
using System.Security.Cryptography.X509Certificates;
using ActOp.Foundation;
using Orleans.Connections.Security;

namespace ActOp.Runtime.Nodes.Tls;

/// <summary>
/// A certificate that is read again when it has changed. Owns the last good one; it is not disposed when it is replaced, because handshakes
/// may still use it. The first one must be good (<see cref="Load"/> throws at start); later ones that are not leave the old one in place,
/// with one log line for each change.
/// <para>Threads: any; one gate, held while a changed certificate is read.</para>
/// </summary>
internal abstract class CertificateSource
{
    private readonly Lock _gate = new();
    private object? _stamp;
    private SslStreamCertificateContext? _current;

    /// <summary>Reads the first certificate; throws what reading it throws.</summary>
    internal void Load()
    {
        lock (_gate)
        {
            if (_current is null)
            {
                _stamp = Stamp(null);
                _current = Read();
            }
        }
    }

    /// <summary>The certificate to show now.</summary>
    internal SslStreamCertificateContext Current(TimeProvider time, Log log)
    {
        lock (_gate)
        {
            try
            {
                var stamp = Stamp(time);
                if (_current is null || !stamp.Equals(_stamp))
                {
                    // Before the read, so that bad files are read once and not at each handshake.
                    _stamp = stamp;
                    _current = Read();
                    log.CertificateRead(_current.TargetCertificate.Subject, _current.TargetCertificate.NotAfter, ToString()!);
                }
            }
            catch (Exception exception) when (_current is not null)
            {
                log.CertificateKept(_current.TargetCertificate.Subject, ToString()!, exception);
            }

            return _current!;
        }
    }

    /// <summary>A value that changes when the certificate may have changed.</summary>
    /// <param name="time">The clock; null at start.</param>
    protected abstract object Stamp(TimeProvider? time);

    protected abstract SslStreamCertificateContext Read();
}

/// <summary>A certificate in PEM files; the time and length of both are its stamp.</summary>
internal sealed class FileCertificate(string certificatePath, string keyPath) : CertificateSource
{
    public override string ToString() => certificatePath;

    protected override object Stamp(TimeProvider? time) => (StampOf(certificatePath), StampOf(keyPath));

    protected override SslStreamCertificateContext Read()
    {
        using var pem = X509Certificate2.CreateFromPemFile(certificatePath, keyPath);
        // Windows cannot use a key that it has not stored.
        var certificate = OperatingSystem.IsWindows()
            ? X509CertificateLoader.LoadPkcs12(pem.Export(X509ContentType.Pfx), null)
            : new X509Certificate2(pem);
        var all = new X509Certificate2Collection();
        all.ImportFromPemFile(certificatePath);
        var others = new X509Certificate2Collection(
            all.Where(one => !one.RawDataMemory.Span.SequenceEqual(certificate.RawDataMemory.Span)).ToArray());
        return SslStreamCertificateContext.Create(certificate, others, offline: true);
    }

    /// <summary>Of the file that is opened, so that links on the way to it count too.</summary>
    private static (DateTime Written, long Length) StampOf(string path)
    {
        try
        {
            using var file = File.OpenHandle(path, share: FileShare.ReadWrite | FileShare.Delete);
            return (File.GetLastWriteTimeUtc(file), RandomAccess.GetLength(file));
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            // Being replaced; the read tells what is wrong.
            return default;
        }
    }
}

/// <summary>A certificate of a store, which is looked up again after a while.</summary>
internal sealed class StoreCertificate(string subject, StoreName store, StoreLocation location, bool allowInvalid, bool server)
    : CertificateSource
{
    private static readonly TimeSpan Period = TimeSpan.FromMinutes(1);

    public override string ToString() => subject + " in " + store;

    protected override object Stamp(TimeProvider? time) => time is null ? -1L : time.GetUtcNow().Ticks / Period.Ticks;

    protected override SslStreamCertificateContext Read() => SslStreamCertificateContext.Create(
        CertificateLoader.LoadFromStoreCert(subject, store.ToString(), location, allowInvalid, server), null, offline: true);
}
