using ActOp.Foundation;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;

namespace ActOp.Hosting;

/// <summary>
/// Logs the options for which there is a formatter (<see cref="IOptionFormatter"/>), once, before the silo or client starts. Holds nothing.
/// </summary>
internal sealed class OptionLog(IServiceProvider services, ILogger<OptionLog> logger)
    : OptionsLogger(GuardedLoggers.GuardedOf(logger, services), services), IHostedService
{
    public Task StartAsync(CancellationToken cancellationToken)
    {
        LogOptions();
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    internal static void Add(IServiceCollection services)
    {
        services.ConfigureFormatter<ClusterOptions>();
        services.AddHostedService<OptionLog>();
    }
}
