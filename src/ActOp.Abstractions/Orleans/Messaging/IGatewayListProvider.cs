using ActOp.Calls;
using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace Orleans.Messaging;

/// <summary>
/// Where a client finds the gateways of the cluster. Registered in the container of the client; any thread, one call at a time.
/// </summary>
public interface IGatewayListProvider
{
    /// <summary>How old the list may be.</summary>
    TimeSpan MaxStaleness { get; }

    /// <summary>
    /// The gateways at present, as <c>gwy.tcp://host:port/generation</c>. If it fails, the client keeps the list that it had.
    /// </summary>
    Task<IList<Uri>> GetGateways();

    /// <summary>Called once before the first list.</summary>
    Task InitializeGatewayListProvider();

    /// <inheritdoc cref="GetGateways"/>
    /// <remarks>Clients call this one. A provider that has it not stops the caller's wait, not the work.</remarks>
    /// <param name="cancellationToken">Signalled when nobody waits any more.</param>
    Task<IList<Uri>> GetGatewaysAsync(CancellationToken cancellationToken = default) =>
        Given.Task(GetGateways()).WaitAsync(cancellationToken);

    /// <inheritdoc cref="InitializeGatewayListProvider"/>
    /// <remarks>Clients call this one. A provider that has it not stops the caller's wait, not the work.</remarks>
    /// <param name="cancellationToken">Signalled when nobody waits any more.</param>
    Task InitializeGatewayListProviderAsync(CancellationToken cancellationToken = default) =>
        Given.Task(InitializeGatewayListProvider()).WaitAsync(cancellationToken);
}

/// <summary>
/// The gateways that <see cref="StaticGatewayListProviderOptions"/> lists, as a provider. For applications that register one themselves; a
/// client with these options needs none.
/// </summary>
/// <param name="options">The gateways.</param>
/// <param name="gatewayOptions">How old the list may be.</param>
public class StaticGatewayListProvider(IOptions<StaticGatewayListProviderOptions> options, IOptions<GatewayOptions> gatewayOptions)
    : IGatewayListProvider
{
    /// <inheritdoc/>
    public TimeSpan MaxStaleness { get; } = gatewayOptions.Value.GatewayListRefreshPeriod;

    /// <summary>The list is read again when it is too old.</summary>
    public bool IsUpdatable => true;

    /// <inheritdoc/>
    public Task<IList<Uri>> GetGateways() => Task.FromResult<IList<Uri>>(options.Value.Gateways);

    /// <inheritdoc/>
    public Task InitializeGatewayListProvider() => Task.CompletedTask;

    /// <inheritdoc/>
    public Task<IList<Uri>> GetGatewaysAsync(CancellationToken cancellationToken = default) =>
        cancellationToken.IsCancellationRequested ? Task.FromCanceled<IList<Uri>>(cancellationToken) : GetGateways();

    /// <inheritdoc/>
    public Task InitializeGatewayListProviderAsync(CancellationToken cancellationToken = default) => Task.CompletedTask;
}
