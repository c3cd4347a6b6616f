using ActOp.Runtime.Routing;
using ActOp.Simulation.World;
using ActOp.Testing.Simulated;
using ActOp.Wire;

namespace ActOp.Simulation.Load;

/// <summary>
/// Faults of links at the moment when it matters: some of the requests of a theme's own parts are lost with their link, of some the link is
/// lost a moment later, and the answers of some are late. By chance a link is rarely lost just then.
/// </summary>
/// <remarks>Each of them is a fault of the run like others, and only a run that has faults of its kind has them.</remarks>
internal sealed class RequestTrouble : FrameTap
{
    /// <summary>From a request until its link is lost, on average: the time in which it is done, and answered.</summary>
    private const long TimeUntilLoss = 2 * Pump.Millisecond;

    private readonly World.World _world;
    private readonly Faults _faults;
    private readonly Dice _dice;
    private readonly string[] _kinds;
    private readonly double _losses;
    private readonly double _delays;

    /// <summary>Draws how often that happens.</summary>
    /// <param name="world">The machines.</param>
    /// <param name="faults">Those of the run.</param>
    /// <param name="kinds">Requests whose names begin so: the interface, a dot and the method.</param>
    internal RequestTrouble(World.World world, Faults faults, params string[] kinds)
    {
        (_world, _faults, _kinds) = (world, faults, kinds);
        _dice = world.Dice.Fork("request trouble");
        _losses = _dice.Pick<double>([0, 0.05, 0.2]);
        _delays = _dice.Pick<double>([0, 0.05, 0.2]);
        if (!faults.Kinds.Contains(FaultKind.Reset))
            _losses = 0;
        if (!faults.Kinds.Contains(FaultKind.SlowLink))
            _delays = 0;
    }

    internal bool HasAny => _losses > 0 || _delays > 0;

    private protected override bool Loses(WireEnd from, Machine to, FrameKind kind, ref WireReader reader) =>
        kind == FrameKind.Request && IsMeant(ReadRequest(ref reader).Kind) && Trouble(from);

    private bool IsMeant(string request) => Array.Exists(_kinds, kind => request.StartsWith(kind, StringComparison.Ordinal));

    /// <summary>True if the request is lost.</summary>
    private bool Trouble(WireEnd from)
    {
        if (_dice.Chance(_delays))
        {
            var until = _world.Pump.Now + _dice.Exponential(200 * Pump.Millisecond);
            Note(FaultKind.SlowLink, from, until);
            from.Hold(until);
        }

        if (!_dice.Chance(_losses))
            return false;
        if (_dice.Chance(0.5))
        {
            Lose(from);
            return true;
        }

        _world.Pump.After(_dice.Exponential(TimeUntilLoss), null, EventKind.Fault, "lose link", () => Lose(from));
        return false;
    }

    private void Lose(WireEnd from)
    {
        if (!IsOn)
            return;
        Note(FaultKind.Reset, from, _world.Pump.Now);
        from.Connection.Reset(tellNear: true, tellFar: true);
    }

    private void Note(FaultKind kind, WireEnd from, long until)
    {
        _faults.Done.Add(new Fault(kind, _world.Pump.Now, from.Machine.Host, from.Other?.Machine.Host ?? 0)
        { Until = until });
        _world.Pump.Note(from.Machine, EventKind.Fault, "request trouble: " + kind);
    }
}
