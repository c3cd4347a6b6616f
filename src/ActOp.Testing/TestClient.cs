using ActOp.Runtime.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans;

namespace ActOp.Testing;

/// <summary>The client of a test cluster.</summary>
/// <remarks>
/// Owns the host of the client from its start to its end. One thread at a time, except for <see cref="Client"/>. A start that fails leaves
/// the host, which the next stop ends.
/// </remarks>
internal sealed class TestClient
{
    private IHost? _host;
    private IClusterClient? _client;

    /// <exception cref="InvalidOperationException">There is none: not deployed, or stopped.</exception>
    internal IClusterClient Client =>
        _client ?? throw new InvalidOperationException("The client is not connected. Call DeployAsync or InitializeClientAsync.");

    internal async Task StartAsync(IHost host, CancellationToken cancellationToken)
    {
        _host = host;
        await host.StartAsync(cancellationToken).ConfigureAwait(false);
        _client = host.Services.GetRequiredService<IClusterClient>();
    }

    /// <summary>Disconnects in order; when cancelled, at once. Does nothing if there is no client.</summary>
    internal async Task StopAsync(CancellationToken cancellationToken)
    {
        if (TakeHost() is not { } host)
            return;
        try
        {
            await host.StopAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The client ends without a farewell, as a silo does.
        }
        finally
        {
            host.Dispose();
        }
    }

    /// <summary>Ends the client as a crash would. Does nothing if there is none.</summary>
    internal void Kill()
    {
        var host = TakeHost();
        host?.Services.GetRequiredService<Node>().Kill();
        host?.Dispose();
    }

    private IHost? TakeHost()
    {
        var host = _host;
        _host = null;
        _client = null;
        return host;
    }
}
