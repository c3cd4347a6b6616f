using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace ActOp.Shutdown.Tests;

/// <summary>Silos and clients on real sockets, as an application hosts them.</summary>
internal static class Nodes
{
    internal static (int Silo, int Gateway) Ports()
    {
        var ports = ActOp.Harness.Processes.Ports.FindFree(2);
        return (ports[0], ports[1]);
    }

    internal static TcpListener Listen()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return listener;
    }

    internal static int PortOf(TcpListener listener) => ((IPEndPoint)listener.LocalEndpoint).Port;

    internal static IHost Silo((int Silo, int Gateway) ports, Action<ISiloBuilder>? configure = null)
    {
        var builder = new HostBuilder();
        builder.ConfigureServices(static services => services.AddSingleton<IHostLifetime, NoLifetime>());
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(ports.Silo, ports.Gateway);
            configure?.Invoke(silo);
        });
        return builder.Build();
    }

    internal static IHost Client((int Silo, int Gateway) ports, Action<IClientBuilder>? configure = null)
    {
        var builder = new HostBuilder();
        builder.ConfigureServices(static services => services.AddSingleton<IHostLifetime, NoLifetime>());
        builder.UseOrleansClient(client =>
        {
            client.UseLocalhostClustering(ports.Gateway);
            configure?.Invoke(client);
        });
        return builder.Build();
    }

    /// <summary>Uses what a silo has: calls, activations, timers.</summary>
    internal static async Task UseAsync(IHost host)
    {
        var factory = host.Services.GetRequiredService<IGrainFactory>();
        for (var key = 0; key < 20; key++)
            await factory.GetGrain<IBusyGrain>(key).Begin();
    }

    /// <summary>What a stopped host must not keep from the collector.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal static (string, WeakReference)[] Traces(IHost host, string name = "") =>
    [
        (name + "services", new WeakReference(host.Services.GetRequiredService<Mark>())),
        (name + "provider", new WeakReference(host.Services)),
        (name + "node", new WeakReference(host.Services.GetRequiredService<ActOp.Runtime.Nodes.Node>())),
        (name + "host", new WeakReference(host)),
    ];

    internal sealed class Mark;

    private sealed class NoLifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}

public interface IBusyGrain : IGrainWithIntegerKey
{
    /// <summary>Makes a timer, calls another grain and waits for it.</summary>
    Task Begin();

    Task<int> Answer();

    /// <summary>Never answers, and never ends when its activation does.</summary>
    Task Hang();

    Task End();
}

public sealed class BusyGrain : Grain, IBusyGrain
{
    private bool _hangs;

    internal static TaskCompletionSource HangsInItsEnd { get; set; } = new();

    public async Task Begin()
    {
        this.RegisterGrainTimer(
            static (_, _) =>
                Task.CompletedTask, 0, new GrainTimerCreationOptions(TimeSpan.FromMilliseconds(20), TimeSpan.FromMilliseconds(20)));
        await GrainFactory.GetGrain<IBusyGrain>(this.GetPrimaryKeyLong() + 1000).Answer();
    }

    public Task<int> Answer() => Task.FromResult(1);

    public Task Hang()
    {
        _hangs = true;
        return Task.CompletedTask;
    }

    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public override Task OnDeactivateAsync(DeactivationReason reason, CancellationToken cancellationToken)
    {
        if (!_hangs)
            return Task.CompletedTask;
        HangsInItsEnd.TrySetResult();
        return new TaskCompletionSource().Task;
    }
}
