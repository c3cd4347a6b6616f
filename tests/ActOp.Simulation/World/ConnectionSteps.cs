using System.IO.Pipelines;
using ActOp.Testing.Simulated;
using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;
using Orleans.Runtime.Messaging;

namespace ActOp.Simulation.World;

/// <summary>
/// Middleware in the connections of all machines, in some runs: it only looks on, or delays, refuses or drops some of the connections while
/// the faults last. In some runs the bytes of some connections pass through pipes of the middleware, as of one that encrypts.
/// </summary>
internal sealed class ConnectionSteps(World world, Dice dice)
{
    private readonly bool _isThere = dice.Chance(0.5);
    private readonly double _pipes = dice.Fork("pipes").Pick<double>([0, 0.5, 1]);
    private double _delays;
    private double _refusals;
    private double _drops;

    /// <summary>When it last kept or will keep a connection from its work.</summary>
    internal long TroubledAt { get; private set; } = long.MinValue / 2;

    internal void Configure(Machine machine, IServiceCollection services)
    {
        if (!_isThere)
            return;
        services.Configure<SiloConnectionOptions>(options =>
        {
            options.ConfigureSiloInboundConnection(builder => builder.UseMiddleware(new Step(this, machine)));
            options.ConfigureSiloOutboundConnection(builder => builder.UseMiddleware(new Step(this, machine)));
            options.ConfigureGatewayInboundConnection(builder => builder.UseMiddleware(new Step(this, machine)));
        });
        services.Configure<ClientConnectionOptions>(options =>
            options.ConfigureConnection(builder => builder.UseMiddleware(new Step(this, machine))));
    }

    internal void BeginFaults()
    {
        if (world.IsCalm)
            return;
        _delays = dice.Pick<double>([0, 0.1, 0.5]);
        _refusals = dice.Pick<double>([0, 0.05, 0.3]);
        _drops = dice.Pick<double>([0, 0.1, 0.5]);
    }

    internal void EndFaults() => (_delays, _refusals, _drops) = (0, 0, 0);

    private sealed class Step(ConnectionSteps steps, Machine machine) : IConnectionMiddleware
    {
        public async Task OnConnectionAsync(ConnectionContext context, ConnectionDelegate next)
        {
            var dice = steps.Dice;
            if (dice.Chance(steps._refusals))
            {
                steps.Trouble(0);
                return;
            }

            if (dice.Chance(steps._delays))
            {
                steps.Trouble(0);
                await Task.Delay(TimeSpan.FromTicks(1 + dice.Exponential(Pump.Second / 5)), machine.AppClock);
            }

            if (dice.Chance(steps._drops))
            {
                var delay = dice.Exponential(2 * Pump.Second);
                steps.Trouble(delay);
                machine.World.Pump.After(delay, machine, EventKind.Fault, "middleware drops", context.Abort);
            }

            if (dice.Chance(steps._pipes))
                await PassAsync(context, next, new Later(machine, dice));
            else
                await next(context);
        }

        private static async Task PassAsync(ConnectionContext context, ConnectionDelegate next, PipeScheduler scheduler)
        {
            var below = context.Transport;
            var options = new PipeOptions(readerScheduler: scheduler, writerScheduler: scheduler, useSynchronizationContext: false);
            var (received, sent) = (new Pipe(options), new Pipe(options));
            context.Transport = new Ends(received.Reader, sent.Writer);
            var passed = Task.WhenAll(CopyAsync(below.Input, received.Writer), CopyAsync(sent.Reader, below.Output));
            await next(context);
            await passed;
        }

        private static async Task CopyAsync(PipeReader from, PipeWriter to)
        {
            Exception? failure = null;
            try
            {
                await from.CopyToAsync(to);
            }
            catch (Exception exception) when (exception is InvalidOperationException or OperationCanceledException or IOException)
            {
                // The connection ends.
                failure = exception;
            }

            await to.CompleteAsync(failure);
            await from.CompleteAsync();
        }
    }

    /// <summary>What middleware puts in place of the bytes below it.</summary>
    private sealed class Ends(PipeReader input, PipeWriter output) : IDuplexPipe
    {
        public PipeReader Input => input;

        public PipeWriter Output => output;
    }

    /// <summary>Each step of a pipe is an event, a moment later.</summary>
    private sealed class Later(Machine machine, Dice dice) : PipeScheduler
    {
        public override void Schedule(Action<object?> action, object? state) => machine.World.Pump.After(
            dice.Exponential(5 * Pump.Microsecond), machine, EventKind.Item, "middleware", () => action(state));
    }

    private Dice Dice => dice;

    private void Trouble(long delay) => TroubledAt = Math.Max(TroubledAt, world.Pump.Now + delay);
}
