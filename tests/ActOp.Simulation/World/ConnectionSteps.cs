using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Configuration;
using Orleans.Runtime.Messaging;

namespace ActOp.Simulation.World;

/// <summary>
/// Middleware in the connections of all machines, in some runs: it only looks on, or delays, refuses or drops some of the connections while
/// the faults last.
/// </summary>
internal sealed class ConnectionSteps(World world, Dice dice)
{
    private readonly bool _isThere = dice.Chance(0.5);
    private double _delays;
    private double _refusals;
    private double _drops;

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
                return;
            if (dice.Chance(steps._delays))
                await Task.Delay(TimeSpan.FromTicks(1 + dice.Exponential(Pump.Second / 5)), machine.AppClock);
            if (dice.Chance(steps._drops))
            {
                var delay = dice.Exponential(2 * Pump.Second);
                machine.World.Pump.After(delay, machine, EventKind.Fault, "middleware drops", context.Abort);
            }

            await next(context);
        }
    }

    private Dice Dice => dice;
}
