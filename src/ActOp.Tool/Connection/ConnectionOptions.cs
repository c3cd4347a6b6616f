using System.CommandLine;
using System.Globalization;
using System.Net;

namespace ActOp.Tool.Connection;

/// <summary>The options by which the tool finds a cluster and proves itself, from the command line or the environment.</summary>
/// <remarks>
/// Holds the options of one run. One thread. Secrets are read from files or the environment, never from the command line, which all users
/// of the machine can see.
/// </remarks>
internal sealed class ConnectionOptions(Func<string, string?> environment)
{
    internal const string HowToBecomeOperator = "Set the same ActOp:Security:OperatorSecret on all silos, and give it to the tool by"
        + " --operator-secret-file or ACTOP_OPERATOR_SECRET.";

    private readonly Option<string?> _gateway = Text("--gateway",
        "Gateway of a silo as host:port; without it, ACTOP_GATEWAY, else 127.0.0.1:30000.");

    private readonly Option<string?> _clusterId = Text("--cluster-id", "Id of the cluster; without it, ACTOP_CLUSTER_ID, else dev.");
    private readonly Option<string?> _serviceId = Text("--service-id", "Id of the service; without it, ACTOP_SERVICE_ID, else dev.");

    private readonly Option<string?> _secretFile = Text("--secret-file",
        "File with the secret of clients; without it, ACTOP_SECRET.");

    private readonly Option<string?> _operatorFile = Text("--operator-secret-file",
        "File with the secret of operators, in place of that of clients; without it, ACTOP_OPERATOR_SECRET.");

    private readonly Option<bool> _tls = new("--tls") { Description = "Connect by TLS.", Recursive = true };
    private readonly Option<string?> _authority = Text("--tls-authority",
        "PEM file with the roots of the certificates of silos. Implies --tls.");


    private readonly Option<string?> _host = Text("--tls-host",
        "Name in the certificates of silos; without it, the host of the gateway. Implies --tls.");

    private readonly Option<string?> _certificate = Text("--tls-certificate", "PEM file with the certificate of the tool. Implies --tls.");
    private readonly Option<string?> _key = Text("--tls-key", "PEM file with its private key, if that is not in the same file.");

    internal IEnumerable<Option> All =>
        [_gateway, _clusterId, _serviceId, _secretFile, _operatorFile, _tls, _authority, _host, _certificate, _key];

    /// <summary>What the command line and the environment say.</summary>
    /// <exception cref="ToolException">A value is not of the form that it must have.</exception>
    internal ConnectionSettings Read(ParseResult parsed)
    {
        var gateway = Gateway(parsed.GetValue(_gateway) ?? environment("ACTOP_GATEWAY") ?? "127.0.0.1:30000");
        var (authority, host) = (parsed.GetValue(_authority), parsed.GetValue(_host));
        var (certificate, key) = (parsed.GetValue(_certificate), parsed.GetValue(_key));
        if (key is not null && certificate is null)
            throw new ToolException(ExitCode.Usage, "--tls-key needs --tls-certificate.");
        foreach (var file in new[] { authority, certificate, key }.Where(static file => file is not null && !File.Exists(file)))
            throw new ToolException(ExitCode.Usage, "There is no file " + file + ".");
        var usesTls = parsed.GetValue(_tls) || authority is not null || host is not null || certificate is not null;
        return new ConnectionSettings(
            gateway,
            parsed.GetValue(_clusterId) ?? environment("ACTOP_CLUSTER_ID") ?? "dev",
            parsed.GetValue(_serviceId) ?? environment("ACTOP_SERVICE_ID") ?? "dev",
            Secret(parsed, _secretFile, "ACTOP_SECRET"),
            Secret(parsed, _operatorFile, "ACTOP_OPERATOR_SECRET"),
            usesTls ? new TlsSettings(host ?? HostOf(gateway), authority, certificate, key) : null);
    }

    /// <summary>The text of a file that an option names, else of a variable; null if there is neither.</summary>
    internal string? Secret(ParseResult parsed, Option<string?> file, string variable)
    {
        if (parsed.GetValue(file) is not { } path)
            return environment(variable) is { Length: > 0 } value ? value : null;
        try
        {
            // A file that was made by echo ends with a line break, which is no part of the secret.
            return File.ReadAllText(path).TrimEnd('\r', '\n') is { Length: > 0 } text
                ? text : throw new ToolException(ExitCode.Usage, file.Name + ": the file " + path + " is empty.");
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.Usage, file.Name + ": " + exception.Message, exception);
        }
    }

    /// <summary>An address with a port, or a name with a port. Addresses of IP version 6 stand in brackets.</summary>
    private static EndPoint Gateway(string text)
    {
        var colon = text.LastIndexOf(':');
        if (colon > 0 && int.TryParse(text[(colon + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out var port)
            && port is > 0 and < 65_536 && Uri.CheckHostName(text[..colon]) is not UriHostNameType.Unknown)
        {
            return IPAddress.TryParse(text[..colon].Trim('[', ']'), out var address)
                ? new IPEndPoint(address, port) : new DnsEndPoint(text[..colon], port);
        }

        throw new ToolException(ExitCode.Usage, text + " is not a gateway: it must be host:port, as in silo-1:30000 or 10.0.0.5:30000.");
    }

    private static string HostOf(EndPoint gateway) => gateway is DnsEndPoint name ? name.Host : ((IPEndPoint)gateway).Address.ToString();

    private static Option<string?> Text(string name, string description) => new(name) { Description = description, Recursive = true };
}

/// <summary>Where a cluster is, and what the tool proves there.</summary>
/// <param name="Gateway">An address or a name with a port.</param>
/// <param name="ClusterId">Id of the cluster.</param>
/// <param name="ServiceId">Id of the service.</param>
/// <param name="Secret">Of clients; null for none.</param>
/// <param name="OperatorSecret">Of operators, used in place of that of clients; null for none.</param>
/// <param name="Tls">Null: no TLS.</param>
internal sealed record ConnectionSettings(
    EndPoint Gateway, string ClusterId, string ServiceId, string? Secret, string? OperatorSecret, TlsSettings? Tls)
{
    /// <summary>The gateway for people.</summary>
    internal string GatewayText => Gateway is DnsEndPoint name ? name.Host + ":" + name.Port : Gateway.ToString()!;
}

/// <summary>TLS of the tool.</summary>
/// <param name="Host">The name that the certificates of silos must have.</param>
/// <param name="AuthorityPath">PEM file with their roots; null for those that the machine trusts.</param>
/// <param name="CertificatePath">PEM file with the tool's own certificate; null for none.</param>
/// <param name="KeyPath">PEM file with its private key; null if it is in the same file.</param>
internal sealed record TlsSettings(string Host, string? AuthorityPath, string? CertificatePath, string? KeyPath);
