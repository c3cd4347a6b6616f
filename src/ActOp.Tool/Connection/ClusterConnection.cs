using System.Security.Cryptography;
using ActOp.Management.Operations;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Hosting;
using Orleans.Runtime;
using Orleans.Runtime.Messaging;

namespace ActOp.Tool.Connection;

/// <summary>A client of the cluster for one command.</summary>
/// <remarks>Owns the client; whoever opens it disposes of it. One thread.</remarks>
internal sealed class ClusterConnection : IAsyncDisposable
{
    private readonly IHost _host;

    private ClusterConnection(IHost host) => (_host, Operators) = (host, host.Services.GetRequiredService<OperatorClient>());

    /// <summary>The door of the cluster for operators.</summary>
    internal OperatorClient Operators { get; }

    /// <summary>Connects, within the 10 s that clients take for it.</summary>
    /// <exception cref="ToolException">It cannot: the text says why.</exception>
    internal static async Task<ClusterConnection> OpenAsync(ConnectionSettings settings, CancellationToken cancellationToken)
    {
        IHost? host = null;
        try
        {
            host = Build(settings);
            await host.StartAsync(cancellationToken).ConfigureAwait(false);
            return new ClusterConnection(host);
        }
        catch (Exception exception) when (exception is ConnectionFailedException or OrleansConfigurationException or TimeoutException
            or SiloUnavailableException or CryptographicException or IOException)
        {
            host?.Dispose();
            throw new ToolException(ExitCode.NotConnected, "The cluster " + settings.ClusterId + " cannot be reached at "
                + settings.GatewayText + ". " + exception.Message, exception);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _host.StopAsync().ConfigureAwait(false);
        _host.Dispose();
    }

    /// <summary>A member that is named by its name, its address, or its address with the time of its start.</summary>
    /// <exception cref="ToolException">There is none, or more than one.</exception>
    internal ListedMember Silo(string text)
    {
        ListedMember[] found =
        [
            .. Operators.Members.Where(member => member.Status == SiloStatus.Active
                && (member.Name == text || member.Silo.Endpoint.ToString() == text || member.Silo.ToParsableString() == text)),
        ];
        return found.Length switch
        {
            1 => found[0],
            0 => throw new ToolException(ExitCode.NotFound, "There is no active silo " + text + ". 'actop members' shows them."),
            _ => throw new ToolException(ExitCode.NotFound, found.Length + " active silos are named " + text + ". Use an address: "
                + string.Join(", ", found.Select(static one => one.Silo.Endpoint)) + "."),
        };
    }

    private static IHost Build(ConnectionSettings settings)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(Configuration(settings).Where(static pair => pair.Value is not null));
        builder.Logging.ClearProviders();
        builder.UseOrleansClient(client => client.UseStaticClustering(settings.Gateway));
        return builder.Build();
    }

    /// <summary>By the names that any client reads from its configuration.</summary>
    private static Dictionary<string, string?> Configuration(ConnectionSettings settings) => new()
    {
        ["Orleans:ClusterId"] = settings.ClusterId,
        ["Orleans:ServiceId"] = settings.ServiceId,
        ["ActOp:Security:ClientSecret"] = settings.Secret,
        ["ActOp:Security:OperatorSecret"] = settings.OperatorSecret,
        ["ActOp:Tls:TargetHost"] = settings.Tls?.Host,
        ["ActOp:Tls:AuthorityPath"] = settings.Tls?.AuthorityPath,
        ["ActOp:Tls:CertificatePath"] = settings.Tls?.CertificatePath,
        ["ActOp:Tls:KeyPath"] = settings.Tls?.KeyPath,
    };
}
