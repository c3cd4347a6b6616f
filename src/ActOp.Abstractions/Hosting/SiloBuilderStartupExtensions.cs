using ActOp.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace Orleans.Hosting;

/// <summary>Runs code of the application when a silo starts.</summary>
public static class SiloBuilderStartupExtensions
{
    /// <summary>Runs a task at a stage of the start; an exception ends the start.</summary>
    public static ISiloBuilder AddStartupTask(this ISiloBuilder builder, IStartupTask startupTask, int stage = ServiceLifecycleStage.Active)
    {
        ArgumentNullException.ThrowIfNull(startupTask);
        return builder.AddStartupTask((_, token) => startupTask.Execute(token), stage);
    }

    /// <summary>
    /// Runs a task at a stage of the start; an exception ends the start. Its class is created with the silo's services when it runs.
    /// </summary>
    public static ISiloBuilder AddStartupTask<TStartup>(this ISiloBuilder builder, int stage = ServiceLifecycleStage.Active)
        where TStartup : class, IStartupTask =>
        builder.AddStartupTask(static (services, token) => ActivatorUtilities.GetServiceOrCreateInstance<TStartup>(services).Execute(token), stage);

    /// <summary>Runs a method at a stage of the start; an exception ends the start.</summary>
    public static ISiloBuilder AddStartupTask(this ISiloBuilder builder, Func<IServiceProvider, CancellationToken, Task> startupTask, int stage = ServiceLifecycleStage.Active)
    {
        ArgumentNullException.ThrowIfNull(startupTask);
        return builder.ConfigureServices(services => services.AddSingleton<ILifecycleParticipant<ISiloLifecycle>>(
            provider => new StartupTask(provider, startupTask, stage)));
    }
}
