using ActOp.Staging.Measuring;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace ActOp.Staging.Tracing;

/// <summary>Makes the event trace available to a silo.</summary>
public static class StageTracingExtensions
{
    /// <summary>
    /// Registers the event trace: <c>silo.Services.AddStageTracing()</c>. A silo uses it when <c>StageOptions.DemandSource</c> is
    /// <see cref="DemandSourceKind.Trace"/>, or <see cref="DemandSourceKind.Best"/> on a system without statistics of the scheduler.
    /// </summary>
    /// <param name="services">The services of the silo.</param>
    /// <returns>The same services.</returns>
    public static IServiceCollection AddStageTracing(this IServiceCollection services)
    {
        services.TryAddSingleton<IStageTracing, StageTracing>();
        return services;
    }
}

/// <summary>Opens a <see cref="TraceSource"/>, or reports why the process cannot be traced.</summary>
internal sealed class StageTracing : IStageTracing
{
    public IDemandSource? Open(IReadOnlyList<string> stages, out string reason)
    {
        try
        {
            reason = "the process traces its own waits";
            return new TraceSource(stages);
        }
        catch (Exception exception) when (
            exception is ServerNotAvailableException or ServerErrorException or IOException or TimeoutException
                or PlatformNotSupportedException)
        {
            reason = "the process cannot be traced (" + exception.Message + ")";
            return null;
        }
    }
}
