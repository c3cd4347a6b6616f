using System.Diagnostics.CodeAnalysis;
using System.Net;
using ActOp.Configuration;
using ActOp.Harness.Processes;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Orleans.Configuration;

namespace ActOp.Bench.Attacks;

/// <summary>What a silo says about itself when it is asked.</summary>
/// <param name="Heap">Bytes of the managed heap; live ones after a collection.</param>
/// <param name="LogLines">Lines logged, from Information on.</param>
/// <param name="LogBytes">Their characters, with those of exceptions.</param>
/// <param name="Activations">Grains that are active.</param>
/// <param name="PauseMs">Pauses of the collector since the start, those that were asked for too.</param>
internal sealed record SiloReading(long Heap, long LogLines, long LogBytes, int Activations, double PauseMs);

/// <summary>The silo of the attacks, in a process of its own. Says how it is for each line on its standard input.</summary>
internal static class AttackSilo
{
    internal const string Command = "attack-silo";
    internal const string Collect = "collect";

    /// <param name="advertised">Ports that others dial, those of the relays: silo and gateway.</param>
    /// <param name="listening">Ports that it listens at: silo and gateway.</param>
    internal static async Task<int> RunAsync(int[] advertised, int[] listening)
    {
        var log = new CountingLog();
        var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.SetMinimumLevel(LogLevel.Information);
        builder.Logging.AddProvider(log);
        builder.UseOrleans(silo =>
        {
            silo.UseLocalhostClustering(advertised[0], advertised[1]);
            silo.UseClusterSecret(RawNode.SiloSecret, RawNode.ClientSecret);
            silo.Configure<LocalityOptions>(static options => options.Enabled = false);
            silo.Configure<EndpointOptions>(options =>
            {
                options.SiloListeningEndpoint = new IPEndPoint(IPAddress.Loopback, listening[0]);
                options.GatewayListeningEndpoint = new IPEndPoint(IPAddress.Loopback, listening[1]);
            });
        });
        using var host = builder.Build();
        await host.StartAsync();
        var node = host.Services.GetRequiredService<Node>();
        Console.Out.WriteLine("ready");
        Console.Out.Flush();
        while (await Console.In.ReadLineAsync() is { } line)
        {
            if (line == Collect)
            {
                for (var i = 0; i < 2; i++)
                {
                    GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
                    GC.WaitForPendingFinalizers();
                }
            }

            JsonLines.Write(
                Console.Out,
                new SiloReading(
                    GC.GetTotalMemory(false), log.Lines, log.Characters, node.Activations.Count,
                    GC.GetTotalPauseDuration().TotalMilliseconds));
        }

        return 0;
    }

    /// <summary>Counts what a log would get, and prints errors.</summary>
    private sealed class CountingLog : ILoggerProvider, ILogger
    {
        private long _lines;
        private long _characters;

        internal long Lines => Interlocked.Read(ref _lines);

        internal long Characters => Interlocked.Read(ref _characters);

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

        [SuppressMessage("Usage", "CA2254", Justification = "Passed through.")]
        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            var text = formatter(state, exception) + exception;
            Interlocked.Increment(ref _lines);
            Interlocked.Add(ref _characters, text.Length);
            if (logLevel >= LogLevel.Error)
                Console.Error.WriteLine(eventId.Id + " " + (text.Length > 1000 ? text[..1000] : text));
        }

        public void Dispose()
        {
        }
    }
}
