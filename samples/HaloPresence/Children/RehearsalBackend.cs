using HaloPresence.Load;
using HaloPresence.Options;

namespace HaloPresence.Children;

/// <summary>Child processes without grains: shows what processes, pacing and reporting cost by themselves.</summary>
public sealed class RehearsalBackend : IBackend
{
    /// <inheritdoc/>
    public Task<ISilo> StartSilo(SiloArguments arguments, CancellationToken cancellation) =>
        Task.FromResult<ISilo>(new IdleSilo());

    /// <inheritdoc/>
    public Task<ILoadTarget> Connect(HaloOptions options, int[] gateways, CancellationToken cancellation) =>
        Task.FromResult<ILoadTarget>(new RehearsalTarget());

    private sealed class IdleSilo : ISilo
    {
        public SiloSample Read(SiloSample sample) => sample;

        public ValueTask DisposeAsync() => default;
    }
}
