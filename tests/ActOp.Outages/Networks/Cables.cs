namespace ActOp.Outages.Networks;

/// <summary>What happens to the packets from one port to another.</summary>
/// <param name="IsCut">Whether all are lost.</param>
/// <param name="Delay">How long each takes.</param>
/// <param name="Jitter">How much longer at most, at random; packets stay in order.</param>
/// <param name="Loss">The share that is lost, from 0 to 1.</param>
/// <param name="BytesPerSecond">How fast they leave; 0 for at once.</param>
internal readonly record struct Cable(
    bool IsCut = false, TimeSpan Delay = default, TimeSpan Jitter = default, double Loss = 0, long BytesPerSecond = 0);

/// <summary>The cables between all ports of a switch. Pure: time and packets are given. One caller at a time.</summary>
/// <param name="ports">Number of ports.</param>
/// <param name="seed">Of the random choices.</param>
internal sealed class Cables(int ports, int seed)
{
    /// <summary>What waits longer for a slow cable is lost, as in the queue of a router.</summary>
    private static readonly TimeSpan LongestQueue = TimeSpan.FromMilliseconds(400);

    private readonly Cable[] _cables = new Cable[ports * ports];
    private readonly TimeSpan[] _free = new TimeSpan[ports * ports];
    private readonly TimeSpan[] _last = new TimeSpan[ports * ports];
    private readonly Random _random = new(seed);

    /// <summary>Packets that were lost.</summary>
    internal long Lost { get; private set; }

    /// <summary>Packets that were passed on.</summary>
    internal long Passed { get; private set; }

    /// <summary>The cable from one port to another.</summary>
    internal Cable this[int from, int to]
    {
        get => _cables[(from * ports) + to];
        set => _cables[(from * ports) + to] = value;
    }

    /// <summary>When a packet that is sent now arrives; null if it is lost.</summary>
    internal TimeSpan? Arrival(int from, int to, int bytes, TimeSpan now)
    {
        var at = (from * ports) + to;
        var cable = _cables[at];
        if (cable == default)
        {
            Passed++;
            // Not before those that were sent while the cable was slow.
            return _last[at] > now ? _last[at] : now;
        }

        if (cable.IsCut || (cable.Loss > 0 && _random.NextDouble() < cable.Loss))
            return Lose();
        var leaves = now;
        if (cable.BytesPerSecond > 0)
        {
            var begins = _free[at] > now ? _free[at] : now;
            if (begins - now > LongestQueue)
                return Lose();
            _free[at] = leaves = begins + TimeSpan.FromSeconds((double)bytes / cable.BytesPerSecond);
        }

        var arrives = leaves + cable.Delay + (cable.Jitter * _random.NextDouble());
        _last[at] = arrives = arrives > _last[at] ? arrives : _last[at];
        Passed++;
        return arrives;
    }

    private TimeSpan? Lose()
    {
        Lost++;
        return null;
    }
}
