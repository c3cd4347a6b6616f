using System.Globalization;
using ActOp.Configuration;
using ActOp.Harness.Processes;
using HaloPresence.Bench.States;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace HaloPresence.Bench.Silos;

/// <summary>A running silo; disposing it stops it gracefully.</summary>
public interface ISilo : IAsyncDisposable
{
    /// <summary>Reads the counters; time, processor time and allocations are filled in by the caller.</summary>
    SiloSample Read(SiloSample sample);
}

/// <summary>No silo at all: shows what processes, pacing and reporting cost by themselves.</summary>
public sealed class IdleSilo : ISilo
{
    /// <inheritdoc/>
    public SiloSample Read(SiloSample sample) => sample;

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => default;
}

/// <summary>The application's silo in this process, with what measures it around it.</summary>
public sealed class SiloHost : ISilo
{
    private readonly IHost _host;
    private readonly RuntimeMeter _meter;
    private readonly PlaceCheck _check;
    private readonly ActorLatency? _latency;

    private SiloHost(IHost host, RuntimeMeter meter, PlaceCheck check, ActorLatency? latency)
    {
        _latency = latency;
        _host = host;
        _meter = meter;
        _check = check;
    }

    /// <summary>Starts the silo and joins the cluster of the primary.</summary>
    public static async Task<SiloHost> StartAsync(SiloArguments arguments, CancellationToken cancellation)
    {
        // Before the silo, so that no instrument is missed.
        var meter = new RuntimeMeter();
        var activations = new ActivationLog(arguments.Journal);
        var builder = QuietHost.CreateBuilder();
        builder.Configuration.AddInMemoryCollection(Settings(arguments));
        builder.AddHaloPresence();
        if (arguments.Ledgers is { } folder)
            LedgerStorages.AddTo(builder, arguments.Postgres!, folder);
        if (arguments.Keys is { } keys)
            new ClusterKeys(keys).AddTo(builder, arguments.Port, arguments.Gateway, arguments.Wrong);
        // The paper's placement, in all modes: the default prefers the silo of the caller.
        builder.Services.AddSingleton<PlacementStrategy, RandomPlacement>();
        var latency = arguments.Options.ActorLatency ? new ActorLatency() : null;
        if (latency is not null)
            builder.Services.AddSingleton<IOutgoingGrainCallFilter>(latency);
        activations.AddTo(builder.Logging);
        if (arguments.Journal is not null)
        {
            builder.Logging.AddFilter<ViewLines>("ActOp.Runtime", LogLevel.Information);
            builder.Logging.AddProvider(new ViewLines());
        }
        var host = builder.Build();
        await host.StartAsync(cancellation);
        var check = new PlaceCheck(host.Services.GetRequiredService<IGrainFactory>(), activations);
        return new SiloHost(host, meter, check, latency);
    }

    /// <inheritdoc/>
    public SiloSample Read(SiloSample sample)
    {
        _meter.Observe();
        return sample with
        {
            LocalMessages = _meter.LocalMessages,
            RemoteMessages = _meter.RemoteMessages,
            CheckedLocal = _check.Local,
            CheckedRemote = _check.Remote,
            Activations = _meter.Activations,
            Moves = _meter.Moves,
            ActorCalls = _latency?.Counts ?? [],
        };
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _check.DisposeAsync();
        await _host.StopAsync();
        _host.Dispose();
        _meter.Dispose();
    }

    /// <summary>What the experiment asks for, as the application's configuration.</summary>
    private static IEnumerable<KeyValuePair<string, string?>> Settings(SiloArguments arguments)
    {
        var halo = arguments.Options;
        yield return new("Silo:Port", Text(arguments.Port));
        yield return new("Silo:Gateway", Text(arguments.Gateway));
        yield return new("Silo:Primary", Text(arguments.Index == 0 ? arguments.Port : arguments.Primary));
        yield return new("Locality:Enabled", Text(halo.MovesGrains));
        yield return new("Locality:Migration", Text(halo.Migration));
        // The paper's way to move carries nothing: what the grains hold is lost, and what the players do next brings it back.
        yield return new(
            "Locality:Moves", Text(halo.Migration == MigrationMode.Opportunistic ? MovableGrains.All : MovableGrains.NothingLost));
        yield return new("Locality:Algorithm", Text(halo.Algorithm));
        yield return new("Stages:Controller", Text(halo.SizesStages ? StageController.Model : StageController.Fixed));
        if (arguments.Lease > 0)
            yield return new("Lease:Duration", TimeSpan.FromSeconds(arguments.Lease).ToString("c", CultureInfo.InvariantCulture));
        if (arguments.Postgres is not null)
            yield return new("ConnectionStrings:Cluster", arguments.Postgres);
        if (halo.Otlp != "none")
            yield return new("Telemetry:Collector", halo.Otlp);
    }

    private static string Text<T>(T value) => Convert.ToString(value, CultureInfo.InvariantCulture)!;
}

/// <summary>
/// The application's own view of the remote share, to check the runtime's count: every second it asks some games of this silo for their
/// players and counts which of them are active here. Every message of a status request goes between a game and one of its players.
/// </summary>
public sealed class PlaceCheck : IAsyncDisposable
{
    private const int GamesAtOnce = 16;
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(1);
    private readonly CancellationTokenSource _end = new();
    private readonly IGrainFactory _grains;
    private readonly ActivationLog _activations;
    private readonly Task _checking;
    private long _local;
    private long _remote;

    /// <summary>Begins to check.</summary>
    public PlaceCheck(IGrainFactory grains, ActivationLog activations)
    {
        _grains = grains;
        _activations = activations;
        _checking = Task.Run(CheckAsync);
    }

    /// <summary>Pairs that were on this silo.</summary>
    public long Local => Volatile.Read(ref _local);

    /// <summary>Pairs whose player was on another silo.</summary>
    public long Remote => Volatile.Read(ref _remote);

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync();
        await _checking;
        _end.Dispose();
    }

    private async Task CheckAsync()
    {
        var random = new Random(1);
        using var timer = new PeriodicTimer(Period);
        try
        {
            while (await timer.WaitForNextTickAsync(_end.Token))
            {
                foreach (var game in _activations.PickGames(random, GamesAtOnce))
                    Count(await PlayersAsync(game));
            }
        }
        catch (OperationCanceledException) when (_end.IsCancellationRequested)
        {
            // The silo stops.
        }
    }

    private async Task<long[]> PlayersAsync(long game)
    {
        try
        {
            return await _grains.GetGrain<IGameGrain>(game).GetPlayers().WaitAsync(_end.Token);
        }
        catch (Exception error) when (error is SiloUnavailableException or TimeoutException or OrleansException)
        {
            // Silos end in some experiments; one game less is checked.
            return [];
        }
    }

    private void Count(long[] players)
    {
        foreach (var player in players)
            Interlocked.Increment(ref _activations.HasPlayer(player) ? ref _local : ref _remote);
    }
}

/// <summary>Reads the runtime's metrics of this process: grain messages that stayed and that crossed, activations, migrations.</summary>
public sealed class RuntimeMeter : IDisposable
{
    private const string MeterPrefix = "ActOp";
    private const string LocalName = "actop.grain.messages.local";
    private const string RemoteName = "actop.grain.messages.remote";
    private const string ActivationsName = "actop.activations";
    private const string MovesName = "actop.migrations";

    private readonly MeterReader _meter = new(MeterPrefix, null, LocalName, RemoteName, ActivationsName, MovesName);

    /// <summary>Grain messages between activations of this silo.</summary>
    public long LocalMessages => (long)_meter.Sum(LocalName);

    /// <summary>Grain messages sent to other silos (not to clients).</summary>
    public long RemoteMessages => (long)_meter.Sum(RemoteName);

    /// <summary>Activations now.</summary>
    public long Activations => (long)_meter.Sum(ActivationsName);

    /// <summary>Migrations away from this silo.</summary>
    public long Moves => (long)_meter.Sum(MovesName);

    /// <summary>Asks the observable instruments for their values.</summary>
    public void Observe() => _meter.Observe();

    /// <inheritdoc/>
    public void Dispose() => _meter.Dispose();
}
