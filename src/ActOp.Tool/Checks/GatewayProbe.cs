using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using ActOp.Tool.Connection;

namespace ActOp.Tool.Checks;

/// <summary>
/// Looks whether the gateway can be reached, and at the certificates of both ends. Whether they are trusted, the handshake shows.
/// </summary>
/// <remarks>Holds a connection while it runs. The gateway sees one that ends before it has said anything.</remarks>
internal static class GatewayProbe
{
    internal const string Name = "gateway";

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    internal static async Task<IReadOnlyList<CheckLine>> RunAsync(
        ConnectionSettings settings, int certificateDays, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(Patience);
        using var client = new TcpClient();
        try
        {
            await (settings.Gateway is DnsEndPoint name ? client.ConnectAsync(name.Host, name.Port, limit.Token)
                : client.ConnectAsync((IPEndPoint)settings.Gateway, limit.Token)).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is SocketException or OperationCanceledException
            && !cancellationToken.IsCancellationRequested)
        {
            var why = exception is SocketException ? exception.Message : "No answer within " + Patience.TotalSeconds + " s.";
            return [CheckLine.Failed(Name, settings.GatewayText + ": " + why
                + " Check the address, the port (EndpointOptions.GatewayPort), and firewalls or network policies.")];
        }

        List<CheckLine> lines = [CheckLine.Ok(Name, settings.GatewayText + " can be reached.")];
        if (settings.Tls is not { } tls)
            return lines;
        if (tls.CertificatePath is { } own)
            lines.Add(OwnCertificate(own, certificateDays));
        lines.Add(await CertificateAsync(client.GetStream(), tls, certificateDays, limit.Token).ConfigureAwait(false));
        return lines;
    }

    private static async Task<CheckLine> CertificateAsync(
        NetworkStream stream, TlsSettings tls, int days, CancellationToken cancellationToken)
    {
        const string What = "certificate of the gateway";
        DateTime? until = null;
        await using var secure = new SslStream(stream);
        try
        {
            await secure.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
            {
                TargetHost = tls.Host,
                RemoteCertificateValidationCallback = (_, certificate, _, _) =>
                {
                    // Only looked at here, in local time; nothing is sent over this connection.
                    until = certificate is X509Certificate2 shown ? shown.NotAfter : null;
                    return true;
                },
            }, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception exception) when (exception is AuthenticationException or IOException or OperationCanceledException)
        {
            // A silo may want a certificate of the tool; its own has been seen by then.
            if (until is null)
                return CheckLine.Failed(What, "The gateway does not speak TLS: " + exception.Message + " Does the silo call UseTls?");
        }

        return until is { } end ? LineFor(What, end, days) : CheckLine.Failed(What, "The gateway has shown none.");
    }

    private static CheckLine OwnCertificate(string path, int days)
    {
        const string What = "certificate of the tool";
        try
        {
            using var certificate = X509CertificateLoader.LoadCertificateFromFile(path);
            return LineFor(What, certificate.NotAfter, days);
        }
        catch (CryptographicException exception)
        {
            return CheckLine.Failed(What, path + ": " + exception.Message);
        }
    }

    /// <summary>Whether a certificate is valid for long enough.</summary>
    internal static CheckLine LineFor(string what, DateTime until, int days)
    {
        var left = until.ToUniversalTime() - TimeProvider.System.GetUtcNow().UtcDateTime;
        var end = until.ToUniversalTime().ToString("yyyy-MM-dd HH:mm 'UTC'", CultureInfo.InvariantCulture);
        return left <= TimeSpan.Zero ? CheckLine.Failed(what, "It has expired at " + end + ".")
            : left < TimeSpan.FromDays(days)
                ? CheckLine.Failed(what, "It expires at " + end + ", in less than " + days + " days: renew it.")
            : CheckLine.Ok(what, "It is valid until " + end + ".");
    }
}
