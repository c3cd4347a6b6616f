using ActOp.Runtime.Hosting;
using ActOp.Testing;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Runtime;

namespace Orleans.TestingHost;

/// <summary>One silo of a test cluster.</summary>
public abstract class SiloHandle : IDisposable, IAsyncDisposable
{
    /// <summary>Finalizes a handle that was not disposed.</summary>
    ~SiloHandle() => Dispose(false);

    /// <summary>The cluster's options; null for silos of an <see cref="InProcessTestCluster"/>.</summary>
    public TestClusterOptions? ClusterOptions { get; set; }

    /// <summary>The silo's name, like Primary or Secondary_1.</summary>
    public string Name { get; set; } = "";

    /// <summary>0 for the first silo of the cluster, and so on.</summary>
    public short InstanceNumber { get; set; }

    /// <summary>The silo's address.</summary>
    public SiloAddress SiloAddress { get; set; } = null!;

    /// <summary>Where clients reach the silo.</summary>
    public SiloAddress GatewayAddress { get; set; } = null!;

    /// <summary>True from the start to the stop.</summary>
    public abstract bool IsActive { get; }

    /// <summary>Stops the silo: in order, or as a crash would.</summary>
    public abstract Task StopSiloAsync(bool stopGracefully);

    /// <summary>Stops the silo in order; when <paramref name="ct"/> is signalled, at once.</summary>
    public abstract Task StopSiloAsync(CancellationToken ct);

    /// <summary>Stops the silo: in order until <paramref name="cancellationToken"/> is signalled, or as a crash would.</summary>
    public virtual Task StopSiloAsync(bool stopGracefully, CancellationToken cancellationToken) =>
        stopGracefully ? StopSiloAsync(cancellationToken) : StopSiloAsync(stopGracefully: false);

    /// <summary>Stops the silo unless it has stopped.</summary>
    public abstract ValueTask DisposeAsync();

    /// <summary>Kills the silo unless it has stopped.</summary>
    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Kills the silo unless it has stopped.</summary>
    protected virtual void Dispose(bool disposing)
    {
    }
}

/// <summary>A silo in the process of the test.</summary>
public class InProcessSiloHandle : SiloHandle
{
    private int _stopped;

    /// <summary>The silo's host.</summary>
    public IHost SiloHost { get; init; } = null!;

    /// <summary>The silo's services.</summary>
    public IServiceProvider ServiceProvider => SiloHost.Services;

    /// <inheritdoc/>
    public override bool IsActive => Volatile.Read(ref _stopped) == 0;

    internal Node Node => ServiceProvider.GetRequiredService<Node>();

    /// <summary>
    /// Starts a silo with the configurators that <paramref name="configuration"/> names (<see cref="TestClusterOptions.ToDictionary"/>).
    /// </summary>
    /// <param name="siloName">Its name.</param>
    /// <param name="configuration">Becomes the host's configuration.</param>
    /// <param name="postConfigureHostBuilder">Called last.</param>
    public static Task<InProcessSiloHandle> CreateAsync(
        string siloName, IConfiguration configuration, Action<IHostBuilder>? postConfigureHostBuilder = null) =>
        CreateAsync(siloName, configuration, postConfigureHostBuilder, CancellationToken.None);

    /// <summary>
    /// Starts a silo with the configurators that <paramref name="configuration"/> names (<see cref="TestClusterOptions.ToDictionary"/>).
    /// </summary>
    /// <param name="siloName">Its name.</param>
    /// <param name="configuration">Becomes the host's configuration.</param>
    /// <param name="postConfigureHostBuilder">Called last.</param>
    /// <param name="cancellationToken">Gives the start up; the host is disposed.</param>
    public static async Task<InProcessSiloHandle> CreateAsync(string siloName, IConfiguration configuration,
        Action<IHostBuilder>? postConfigureHostBuilder, CancellationToken cancellationToken)
    {
        var builder = Hosts.NewBuilder(configuration);
        builder.UseOrleans((_, silo) => silo.Services.Configure<Orleans.Configuration.SiloOptions>(options => options.SiloName = siloName));
        Configurators.ApplyToSilo(builder, configuration);
        postConfigureHostBuilder?.Invoke(builder);
        return await StartAsync(siloName, builder.Build(), cancellationToken).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public override Task StopSiloAsync(bool stopGracefully) =>
        StopSiloAsync(stopGracefully ? CancellationToken.None : new CancellationToken(canceled: true));

    /// <inheritdoc/>
    public override async Task StopSiloAsync(CancellationToken ct)
    {
        if (Interlocked.Exchange(ref _stopped, 1) != 0)
            return;
        try
        {
            if (!ct.IsCancellationRequested)
                await SiloHost.StopAsync(ct).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // Cancels the stop at once, which ends the silo like a crash.
        }
        finally
        {
            Node.Kill();
            await DisposeHostAsync().ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public override async ValueTask DisposeAsync()
    {
        await StopSiloAsync(stopGracefully: true).ConfigureAwait(false);
        GC.SuppressFinalize(this);
    }

    internal static async Task<InProcessSiloHandle> StartAsync(string siloName, IHost host, CancellationToken cancellationToken)
    {
        try
        {
            await host.StartAsync(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            host.Dispose();
            throw;
        }

        var details = host.Services.GetRequiredService<ILocalSiloDetails>();
        return new InProcessSiloHandle
        {
            Name = siloName,
            SiloHost = host,
            SiloAddress = details.SiloAddress,
            GatewayAddress = details.GatewayAddress
        };
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (!disposing || Interlocked.Exchange(ref _stopped, 1) != 0)
            return;
        Node.Kill();
        SiloHost.Dispose();
    }

    private async ValueTask DisposeHostAsync()
    {
        if (SiloHost is IAsyncDisposable host)
            await host.DisposeAsync().ConfigureAwait(false);
        else
            SiloHost.Dispose();
    }
}
