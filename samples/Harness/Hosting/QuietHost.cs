using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Harness.Hosting;

/// <summary>
/// Hosts of the child processes: standard output belongs to the samples, so logs go to standard error, warnings and worse only.
/// </summary>
public static class QuietHost
{
    /// <summary>A builder without configuration files and arguments.</summary>
    public static HostApplicationBuilder CreateBuilder()
    {
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.Logging.AddConsole(console => console.LogToStandardErrorThreshold = LogLevel.Trace);
        // The parent decides when a child stops; a Ctrl+C reaches the whole process group and must not get ahead of it.
        builder.Services.AddSingleton<IHostLifetime, ParentLifetime>();
        return builder;
    }

    private sealed class ParentLifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
