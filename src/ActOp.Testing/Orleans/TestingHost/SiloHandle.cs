using System.Diagnostics;
using System.Reflection;
using System.Text;
using ActOp.Runtime.Nodes;
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

/// <summary>A silo in a process of its own. Its program ends in <see cref="StandaloneSiloHost.Main"/>.</summary>
/// <remarks>
/// Owns the process. Failures: the program ends before the silo has started: the start fails with what it wrote. It does not stop in order
/// within a minute, or the stop is cancelled: it is killed. Disposing kills it.
/// </remarks>
public sealed class StandaloneSiloHandle : SiloHandle
{
    /// <summary>The key of the configuration that names the program.</summary>
    public const string ExecutablePathConfigKey = "ExecutablePath";

    private static readonly TimeSpan StopTime = TimeSpan.FromMinutes(1);

    private readonly Process _process;
    private readonly TaskCompletionSource _started = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly StringBuilder _output = new();
    private int _stopped;

    private StandaloneSiloHandle(string name, ProcessStartInfo start)
    {
        Name = name;
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, line) => Read(line.Data);
        _process.ErrorDataReceived += (_, line) => Read(line.Data);
    }

    /// <inheritdoc/>
    public override bool IsActive => Volatile.Read(ref _stopped) == 0 && !_process.HasExited;

    private string Output
    {
        get
        {
            lock (_output)
                return _output.ToString();
        }
    }

    /// <summary>Starts silos by a program; for <see cref="TestClusterBuilder.CreateSiloAsync"/>.</summary>
    public static Func<string, IConfiguration, Task<SiloHandle>> CreateDelegate(string executablePath) =>
        (name, configuration) => StartAsync(name, configuration, executablePath);

    /// <summary>Starts silos by the program of an assembly; for <see cref="TestClusterBuilder.CreateSiloAsync"/>.</summary>
    public static Func<string, IConfiguration, Task<SiloHandle>> CreateForAssembly(Assembly assembly)
    {
        ArgumentNullException.ThrowIfNull(assembly);
        return CreateDelegate(assembly.Location);
    }

    /// <summary>Starts a silo by the program that the configuration names (<see cref="ExecutablePathConfigKey"/>).</summary>
    public static Task<SiloHandle> Create(string siloName, IConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        return StartAsync(siloName, configuration, configuration[ExecutablePathConfigKey]
            ?? throw new OrleansConfigurationException("The configuration has no value " + ExecutablePathConfigKey + "."));
    }

    /// <inheritdoc/>
    public override Task StopSiloAsync(bool stopGracefully) =>
        StopSiloAsync(stopGracefully ? CancellationToken.None : new CancellationToken(canceled: true));

    /// <inheritdoc/>
    public override async Task StopSiloAsync(CancellationToken ct)
    {
        if (Interlocked.Exchange(ref _stopped, 1) != 0)
            return;
        if (!ct.IsCancellationRequested && !_process.HasExited)
        {
            await _process.StandardInput.WriteLineAsync(StandaloneSiloHost.ShutdownCommand).ConfigureAwait(false);
            await _process.WaitForExitAsync(ct).WaitAsync(StopTime, TimeProvider.System, ct)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        End();
    }

    /// <inheritdoc/>
    public override async ValueTask DisposeAsync()
    {
        await StopSiloAsync(stopGracefully: true).ConfigureAwait(false);
        GC.SuppressFinalize(this);
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (Interlocked.Exchange(ref _stopped, 1) == 0)
            End();
    }

    private static async Task<SiloHandle> StartAsync(string name, IConfiguration configuration, string path)
    {
        var isManaged = Path.GetExtension(path) == ".dll";
        var start = new ProcessStartInfo(isManaged ? "dotnet" : path)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        if (isManaged)
            start.ArgumentList.Add(path);
        start.ArgumentList.Add(StandaloneSiloHost.Marker);
        start.ArgumentList.Add(name);
        start.ArgumentList.Add(TestClusterHostFactory.SerializeConfiguration(configuration));
        var handle = new StandaloneSiloHandle(name, start);
        try
        {
            handle._process.Start();
            handle._process.BeginOutputReadLine();
            handle._process.BeginErrorReadLine();
            using var started = new CancellationTokenSource();
            var ended = handle._process.WaitForExitAsync(started.Token);
            var first = await Task.WhenAny(handle._started.Task, ended).ConfigureAwait(false);
            await started.CancelAsync().ConfigureAwait(false);
            return first != ended ? handle : throw new InvalidOperationException(
                "The process of the silo " + name + " has ended before the silo has started. It has written:\n" + handle.Output);
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    private void Read(string? line)
    {
        if (line is null)
            return;
        lock (_output)
            _output.AppendLine(line);
        if (line.StartsWith(StandaloneSiloHost.SiloAddressLog, StringComparison.Ordinal))
            SiloAddress = SiloAddress.FromParsableString(line[StandaloneSiloHost.SiloAddressLog.Length..]);
        else if (line.StartsWith(StandaloneSiloHost.GatewayAddressLog, StringComparison.Ordinal))
            GatewayAddress = SiloAddress.FromParsableString(line[StandaloneSiloHost.GatewayAddressLog.Length..]);
        else if (line == StandaloneSiloHost.StartedLog)
            _started.TrySetResult();
    }

    private void End()
    {
        try
        {
            _process.Kill(entireProcessTree: true);
        }
        catch (InvalidOperationException)
        {
            // It has ended, or was never started.
        }

        _process.Dispose();
    }
}

/// <summary>The program of a silo that a <see cref="StandaloneSiloHandle"/> has started.</summary>
public static class StandaloneSiloHost
{
    /// <summary>Written when the silo has started.</summary>
    public const string StartedLog = "#### STARTED";

    /// <summary>Read to stop the silo in order.</summary>
    public const string ShutdownCommand = "#### SHUTDOWN";

    /// <summary>Written before the address of the silo.</summary>
    public const string SiloAddressLog = "#### SILO ";

    /// <summary>Written before the address of the gateway.</summary>
    public const string GatewayAddressLog = "#### GATEWAY ";

    /// <summary>The first argument of such a program.</summary>
    internal const string Marker = "--standalone-silo";

    /// <summary>Runs the silo until it is told to stop, or its parent is gone.</summary>
    /// <param name="args">Those that a <see cref="StandaloneSiloHandle"/> gives its program.</param>
    /// <exception cref="ArgumentException">They are others.</exception>
    public static async Task Main(string[] args)
    {
        if (args is not [Marker, var name, var configuration])
            throw new ArgumentException("The arguments are not those of a StandaloneSiloHandle.", nameof(args));
        using var host = TestClusterHostFactory.CreateSiloHost(name, TestClusterHostFactory.DeserializeConfiguration(configuration));
        await host.StartAsync().ConfigureAwait(false);
        var details = host.Services.GetRequiredService<ILocalSiloDetails>();
        Console.WriteLine(SiloAddressLog + details.SiloAddress.ToParsableString());
        Console.WriteLine(GatewayAddressLog + details.GatewayAddress.ToParsableString());
        Console.WriteLine(StartedLog);
        while (await Console.In.ReadLineAsync().ConfigureAwait(false) is { } line && line != ShutdownCommand)
        {
        }

        await host.StopAsync().ConfigureAwait(false);
    }
}
