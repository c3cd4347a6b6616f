using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Outages.Checks;
using ActOp.Outages.Cluster;

namespace ActOp.Outages.Load;

/// <summary>The arguments of a client process.</summary>
/// <param name="Index">Number of the client.</param>
/// <param name="Database">Connection string.</param>
/// <param name="History">The file for its calls.</param>
/// <param name="Seed">Of its random choices.</param>
/// <param name="Origin">When the first generation of keys begins: ticks of the machine's monotonic clock.</param>
/// <param name="Loops">Callers, each with one call at a time.</param>
/// <param name="IsLast">Whether it reads every key at its end.</param>
internal sealed record ClientArguments(int Index, string Database, string History, int Seed, long Origin, int Loops, bool IsLast)
{
    internal const string Command = "client";

    internal string[] Print() =>
        [Command, Text(Index), Database, History, Text(Seed), Text(Origin), Text(Loops), IsLast.ToString(CultureInfo.InvariantCulture)];

    internal static ClientArguments Read(string[] args) => new((int)Number(args[1]), args[2], args[3], (int)Number(args[4]), Number(args[5]),
        (int)Number(args[6]), bool.Parse(args[7]));

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}

/// <summary>
/// The client process: callers of registers and counters, and producers of streams, until its standard input ends. Each call is written
/// down with the machine's monotonic time.
/// </summary>
internal static class ClientChild
{
    /// <summary>What the process says when it has subscribed its streams and its callers begin.</summary>
    internal const string Ready = "READY";

    /// <summary>How long a call waits for its answer.</summary>
    internal static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>Runs it; returns the exit code.</summary>
    internal static async Task<int> RunAsync(ClientArguments arguments)
    {
        var ended = ParentWatch.Start();
        using var stills = StillLine.Watch(static line => JsonLines.Write(Console.Out, line));
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client => Configure(client, arguments.Database));
        using var host = builder.Build();
        await host.StartAsync(ended).ConfigureAwait(false);
        using (var history = new HistoryWriter(arguments.History))
        {
            var load = new ClientLoad(host.Services.GetRequiredService<IClusterClient>(), arguments, history);
            await load.PrepareAsync(ended).ConfigureAwait(false);
            await Console.Out.WriteLineAsync(Ready).ConfigureAwait(false);
            await load.RunAsync(ended).ConfigureAwait(false);
            if (arguments.IsLast)
                await load.ReadAllAsync().ConfigureAwait(false);
        }

        await host.StopAsync(CancellationToken.None).ConfigureAwait(false);
        return 0;
    }

    private static void Configure(IClientBuilder client, string database)
    {
        client.UseAdoNetClustering(options =>
        {
            options.Invariant = "Npgsql";
            options.ConnectionString = database;
        });
        client.UseClusterSecret(Names.Secret);
        client.UseConnectionRetryFilter(static (_, cancellation) => Task.FromResult(!cancellation.IsCancellationRequested));
        client.Configure<ClientMessagingOptions>(options => options.ResponseTimeout = Patience);
        client.AddAdoNetStreams(Names.Streams, options =>
        {
            options.Invariant = "Npgsql";
            options.ConnectionString = database;
        });
    }
}

/// <summary>Callers and producers of one client. Any thread.</summary>
internal sealed class ClientLoad(IClusterClient cluster, ClientArguments arguments, HistoryWriter history)
{
    /// <summary>Streams of one client.</summary>
    internal const int Streams = 2;

    /// <summary>Grains of each kind that are called at one time.</summary>
    internal const int KeysAtOnce = 4;

    /// <summary>How long a grain is called: a long history is hard to check, and new grains become active during faults.</summary>
    internal static readonly TimeSpan Generation = TimeSpan.FromSeconds(20);

    private const double Pause = 0.12;
    private const double ItemPause = 0.1;
    private const int ReadsAtOnce = 16;
    private const int FirstCalls = 12;
    private const long ValuesOfLoop = 1_000_000_000;
    private static readonly Role[] Kinds = [Role.Register, Role.Counter, Role.Memory];
    private readonly MonotonicClock _clock = new();

    /// <summary>
    /// Subscribes the consumers of the streams of this client, and calls grains of each kind on all silos: a process that has just started
    /// is slow. Nothing of this is written down.
    /// </summary>
    internal async Task PrepareAsync(CancellationToken ended)
    {
        for (var stream = 0; stream < Streams; stream++)
        {
            var key = StreamOf(arguments.Index, stream);
            await RepeatAsync(() => cluster.GetGrain<ISubscriber>(key).Subscribe(), ended).ConfigureAwait(false);
        }

        for (var key = 1; key <= FirstCalls; key++)
        {
            var own = -((arguments.Index * FirstCalls) + key);
            foreach (var kind in Kinds)
            {
                var verb = kind == Role.Register ? Verb.Swap : Verb.Add;
                await RepeatAsync(() => AskAsync(new Call { Kind = kind, Key = own, Verb = verb, Argument = 1 }), ended).ConfigureAwait(false);
                await RepeatAsync(() => AskAsync(new Call { Kind = kind, Key = own, Verb = Verb.Read }), ended).ConfigureAwait(false);
            }
        }
    }

    /// <summary>Until it succeeds: the parent has a limit.</summary>
    private static async Task RepeatAsync(Func<Task> call, CancellationToken ended)
    {
        while (!ended.IsCancellationRequested)
        {
            try
            {
                await call().ConfigureAwait(false);
                return;
            }
            catch (Exception error) when (error is TimeoutException or OrleansException)
            {
                // The silos have just started.
            }
        }
    }

    /// <summary>The key of a stream.</summary>
    internal static long StreamOf(int client, int stream) => 1 + (client * Streams) + stream;

    /// <summary>Calls until the end.</summary>
    internal Task RunAsync(CancellationToken ended) => Task.WhenAll([
        .. Enumerable.Range(0, arguments.Loops).Select(loop => CallAsync(loop, ended)),
        .. Enumerable.Range(0, Streams).Select(stream => ProduceAsync(stream, ended))]);

    /// <summary>Reads every key that any client can have used.</summary>
    internal async Task ReadAllAsync()
    {
        var last = GenerationNow();
        var keys = Enumerable.Range(0, (int)last + 1).SelectMany(static generation => Enumerable.Range(0, KeysAtOnce)
            .Select(key => KeyOf(generation, key))).ToArray();
        var parallel = new ParallelOptions { MaxDegreeOfParallelism = ReadsAtOnce };
        await Parallel.ForEachAsync(Kinds.SelectMany(kind => keys.Select(key => (kind, key))), parallel, async (one, _) =>
        {
            await NoteAsync(new Call { Kind = one.kind, Key = one.key, Verb = Verb.Read, IsFinal = true }).ConfigureAwait(false);
            if (one.kind != Role.Register)
            {
                await NoteAsync(new Call { Kind = one.kind, Key = one.key, Verb = Verb.Read, IsFinal = true, IsList = true })
                    .ConfigureAwait(false);
            }
        }).ConfigureAwait(false);
    }

    private static long KeyOf(long generation, int key) => (generation * KeysAtOnce) + key + 1;

    private long GenerationNow() => (_clock.Now.Ticks - arguments.Origin) / Generation.Ticks;

    private async Task CallAsync(int loop, CancellationToken ended)
    {
        var random = new Random(HashCode(loop));
        var seen = new Dictionary<long, long>();
        var value = ValuesOfLoop * ((arguments.Index * arguments.Loops) + loop + 1);
        while (await PauseAsync(random, Pause, ended).ConfigureAwait(false))
        {
            var kind = Kinds[random.Next(Kinds.Length)];
            var key = KeyOf(GenerationNow(), random.Next(KeysAtOnce));
            var verb = kind == Role.Register
                ? random.Next(10) switch { < 4 => Verb.Read, < 7 => Verb.Write, _ => Verb.Swap }
                : random.Next(10) < 6 ? Verb.Add : Verb.Read;
            var call = await NoteAsync(new Call
            {
                Kind = kind,
                Key = key,
                Verb = verb,
                Argument = verb == Verb.Read ? 0 : ++value,
                Expected = verb == Verb.Swap ? seen.GetValueOrDefault(key) : 0,
            }).ConfigureAwait(false);
            if (kind == Role.Register && call.Error is null)
            {
                seen[key] = verb == Verb.Write || (verb == Verb.Swap && call.Result == call.Expected) ? call.Argument : call.Result;
            }
        }
    }

    private async Task ProduceAsync(int stream, CancellationToken ended)
    {
        var random = new Random(HashCode(1000 + stream));
        var key = StreamOf(arguments.Index, stream);
        for (long item = 1; await PauseAsync(random, ItemPause, ended).ConfigureAwait(false); item++)
            await NoteAsync(new Call { Kind = Role.Implicit, Key = key, Verb = Verb.Write, Argument = item }).ConfigureAwait(false);
    }

    /// <summary>A call, its end written down.</summary>
    private async Task<Call> NoteAsync(Call call)
    {
        var from = _clock.Now.Ticks;
        try
        {
            call = await AskAsync(call).ConfigureAwait(false);
        }
        catch (Exception error)
        {
            // An application would see the exception and the one inside.
            var type = error.GetType().Name + (error.InnerException is { } inner ? "(" + inner.GetType().Name + ")" : "");
            call = call with { Error = type, Text = error.Message };
        }

        call = call with { Client = arguments.Index, From = from, To = _clock.Now.Ticks };
        history.Write(call);
        return call;
    }

    private async Task<Call> AskAsync(Call call)
    {
        if (call.Kind == Role.Implicit)
        {
            await cluster.GetStreamProvider(Names.Streams).GetStream<long>(StreamId.Create(Names.Streams, call.Key))
                .OnNextAsync(call.Argument).ConfigureAwait(false);
            return call;
        }

        if (call.IsList)
            return call with { List = await CounterOf(call).Added().ConfigureAwait(false) };
        var reply = call.Kind == Role.Register
            ? await AskRegisterAsync(cluster.GetGrain<IRegister>(call.Key), call).ConfigureAwait(false)
            : await (call.Verb == Verb.Add ? CounterOf(call).Add(call.Argument) : CounterOf(call).Read()).ConfigureAwait(false);
        return call with { Result = reply.Value, Activation = reply.Activation };
    }

    private static Task<Reply> AskRegisterAsync(IRegister register, Call call) => call.Verb switch
    {
        Verb.Write => register.Write(call.Argument),
        Verb.Swap => register.Swap(call.Expected, call.Argument),
        _ => register.Read(),
    };

    private ICounter CounterOf(Call call) =>
        call.Kind == Role.Counter ? cluster.GetGrain<IKeptCounter>(call.Key) : cluster.GetGrain<IMemoryCounter>(call.Key);

    private static async Task<bool> PauseAsync(Random random, double mean, CancellationToken ended)
    {
        var pause = TimeSpan.FromSeconds(-mean * Math.Log(1 - random.NextDouble()));
        await Task.Delay(pause, TimeProvider.System, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return !ended.IsCancellationRequested;
    }

    /// <summary>The same in each process.</summary>
    private int HashCode(int loop) => unchecked((((arguments.Seed * 397) ^ arguments.Index) * 397) ^ loop);
}
