using Microsoft.Extensions.Options;
using Orleans.Configuration;
using Orleans.Placement;

namespace ActOp.Process.Silo;

/// <inheritdoc cref="IPlaceGrain"/>
/// <remarks>Placed at random: by resources, all might be on one silo.</remarks>
[RandomPlacement]
public sealed class PlaceGrain(IOptions<EndpointOptions> endpoints) : Grain, IPlaceGrain
{
    private int _hanging;

    /// <inheritdoc/>
    public ValueTask<int> Port() => new(endpoints.Value.SiloPort);

    /// <inheritdoc/>
    public ValueTask<int> Hanging() => new(_hanging);

    /// <inheritdoc/>
    public Task Hang()
    {
        _hanging++;
        return new TaskCompletionSource().Task;
    }

    /// <inheritdoc/>
    public Task HangOn(long other)
    {
        _hanging++;
        return GrainFactory.GetGrain<IPlaceGrain>(other).HangBeside();
    }

    /// <inheritdoc/>
    public Task HangBeside() => Hang();

    /// <inheritdoc/>
    public async Task<int> Work()
    {
        await Task.Yield();
        return endpoints.Value.SiloPort;
    }
}
