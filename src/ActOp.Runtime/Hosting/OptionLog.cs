using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Configuration;

namespace ActOp.Runtime.Hosting;

/// <summary>
/// Logs the options for which there is a formatter (<see cref="IOptionFormatter"/>), once, before the silo or client starts. Holds nothing.
/// A formatter that throws is logged in place of its options; the start goes on.
/// </summary>
internal sealed class OptionLog(IEnumerable<IOptionFormatter> formatters, ILogger<OptionLog> logger) : IHostedService
{
    public Task StartAsync(CancellationToken cancellationToken)
    {
        if (!logger.IsEnabled(LogLevel.Information))
            return Task.CompletedTask;
        foreach (var formatter in formatters)
        {
            try
            {
                logger.Options(formatter.Name, string.Join(Environment.NewLine, formatter.Format()));
            }
#pragma warning disable CA1031 // A formatter of the application must not prevent the start.
            catch (Exception exception)
#pragma warning restore CA1031
            {
                logger.OptionsFailed(formatter.GetType(), exception);
            }
        }

        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    internal static void Add(IServiceCollection services)
    {
        services.ConfigureFormatter<ClusterOptions>();
        services.AddHostedService<OptionLog>();
    }
}

/// <summary>The lines that it writes.</summary>
internal static partial class OptionLogLines
{
    [LoggerMessage(1280, LogLevel.Information, "Options {Name}:\n{Settings}")]
    internal static partial void Options(this ILogger logger, string name, string settings);

    [LoggerMessage(1281, LogLevel.Warning, "The formatter of options {Formatter} has failed")]
    internal static partial void OptionsFailed(this ILogger logger, Type formatter, Exception exception);
}
