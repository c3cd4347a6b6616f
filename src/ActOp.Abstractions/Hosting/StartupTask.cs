using Orleans;
using Orleans.Runtime;

namespace ActOp.Hosting;

/// <summary>Runs code of the application at a stage of a silo's start.</summary>
internal sealed class StartupTask(IServiceProvider services, Func<IServiceProvider, CancellationToken, Task> run, int stage) : ILifecycleParticipant<ISiloLifecycle>
{
    public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe<StartupTask>(stage, token => run(services, token));
}
