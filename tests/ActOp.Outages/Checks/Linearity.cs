namespace ActOp.Outages.Checks;

/// <summary>What a call does to a register or a counter.</summary>
internal enum Verb
{
    /// <summary>Returns the value.</summary>
    Read,

    /// <summary>Sets the value; returns nothing.</summary>
    Write,

    /// <summary>Returns the value that it found, and sets another one if that was the expected one.</summary>
    Swap,

    /// <summary>Adds one; returns the new value.</summary>
    Add,
}

/// <summary>One call in the history of one register or counter. Both begin with 0.</summary>
/// <param name="Verb">What it does.</param>
/// <param name="Argument">The value that it sets; no two calls of a history set the same.</param>
/// <param name="Expected">The value that a <see cref="Verb.Swap"/> expects.</param>
/// <param name="Result">What it has returned, if that is known.</param>
/// <param name="From">When it was sent; any unit.</param>
/// <param name="To">When its result was there; unimportant without one.</param>
/// <param name="IsKnown">
/// Whether there is a result. Without one the call may have had its effect at any time after <paramref name="From"/>, or never.
/// </param>
internal readonly record struct Operation(
    Verb Verb, long Argument, long Expected, long Result, long From, long To, bool IsKnown)
{
    /// <summary>The value that the register or counter must have before the call for its result to be right; null for any.</summary>
    internal long? Needs => Verb switch
    {
        Verb.Read or Verb.Swap => Result,
        Verb.Add => Result - 1,
        _ => null,
    };

    /// <summary>The value after the call.</summary>
    internal long After(long before) => Verb switch
    {
        Verb.Write => Argument,
        Verb.Swap => before == Expected ? Argument : before,
        Verb.Add => before + 1,
        _ => before,
    };

    public override string ToString() => (Verb switch
    {
        Verb.Write => $"write {Argument}",
        Verb.Swap => $"swap {Expected} for {Argument}",
        Verb.Add => "add",
        _ => "read",
    }) + (IsKnown ? Verb == Verb.Write ? "" : $" = {Result}" : " = ?");
}

/// <summary>The answer of <see cref="Linearity.Check"/>.</summary>
internal enum Linear
{
    /// <summary>There is an order.</summary>
    Yes,

    /// <summary>There is none.</summary>
    No,

    /// <summary>The search was ended by its limit.</summary>
    Undecided,
}

/// <summary>An answer, and for <see cref="Linear.No"/> what could not be placed after the longest order that was found.</summary>
/// <param name="Answer">Whether there is an order.</param>
/// <param name="Steps">Configurations that were visited.</param>
/// <param name="Placed">Calls with a result in the longest order.</param>
/// <param name="Value">The value after them.</param>
/// <param name="Stuck">The calls that might have been next, and those that need the value.</param>
internal sealed record LinearVerdict(Linear Answer, long Steps, int Placed, long Value, IReadOnlyList<Operation> Stuck);

/// <summary>
/// Decides whether the calls of one register or counter could have run one after the other, each at one moment between its beginning and
/// its end, with the results that they had. The search is that of Wing and Gong with Lowe's memory of visited configurations.
/// </summary>
/// <remarks>
/// Most of the choices are decided by what cannot come back: a register never has a value again that it has left, as each call sets another
/// one, and a counter only grows.
/// <list type="bullet">
/// <item>While calls are left that need the present value, one of them is next; those that change nothing first.</item>
/// <item>A write whose value nobody needs has no effect if another write follows, so it is placed with the next write.</item>
/// <item>A call without a result is placed only immediately before the first call that needs its value. It follows from the values which
/// such calls must come before. Those that add are alike, and the one that was sent first is taken first.</item>
/// </list>
/// Pure; one caller at a time.
/// </remarks>
internal sealed class Linearity
{
    /// <summary>Stands for all values that nobody needs.</summary>
    private const long Unneeded = long.MinValue;

    private readonly Operation[] _operations;
    private readonly int _known;
    private readonly Dictionary<long, int> _writers = [];
    private readonly Dictionary<long, int> _needed = [];
    private readonly HashSet<long> _expected = [];
    private readonly HashSet<Configuration> _visited = [];
    private readonly ulong[] _placed;
    private readonly long _most;
    private long _steps;
    private int _depth;
    private LinearVerdict _longest = new(Linear.No, 0, -1, 0, []);

    private Linearity(IEnumerable<Operation> history, long most)
    {
        // Those with a result first, each kind in the order in which they were sent.
        _operations = [.. history.OrderBy(static one => !one.IsKnown).ThenBy(static one => one.From)];
        _known = _operations.Count(static one => one.IsKnown);
        _placed = new ulong[(_operations.Length + 63) / 64];
        _most = most;
        for (var i = 0; i < _operations.Length; i++)
        {
            var one = _operations[i];
            if (one.IsKnown && one.Needs is { } needed)
                _needed[needed] = _needed.GetValueOrDefault(needed) + 1;
            if (!one.IsKnown && one.Verb == Verb.Swap)
                _expected.Add(one.Expected);
            if (one.Verb is Verb.Write or Verb.Swap && (one.Argument == 0 || !_writers.TryAdd(one.Argument, i)))
                throw new ArgumentException($"Two calls set the value {one.Argument}, or one sets 0.", nameof(history));
        }
    }

    /// <summary>Checks a history; gives up after <paramref name="most"/> configurations, which is a bound of time and memory.</summary>
    internal static LinearVerdict Check(IEnumerable<Operation> history, long most = 1_000_000)
    {
        var search = new Linearity(history, most);
        var found = search.Place(0, 0);
        return search._longest with { Answer = found, Steps = search._steps };
    }

    /// <summary>Places the calls that are left; <paramref name="first"/> is the first that may be among them.</summary>
    private Linear Place(int first, long value)
    {
        while (first < _known && IsPlaced(first))
            first++;
        if (first == _known)
            return Linear.Yes;
        if (++_steps > _most)
            return Linear.Undecided;
        if (!_visited.Add(new Configuration([.. _placed], value)))
            return Linear.No;
        var end = EndOfFirst(first);
        var found = _needed.GetValueOrDefault(value) > 0 ? PlaceNeeding(first, value, end) : PlaceAny(first, value, end);
        if (found == Linear.No && _depth > _longest.Placed)
            _longest = new LinearVerdict(Linear.No, 0, _depth, value, Stuck(first, value, end));
        return found;
    }

    /// <summary>Places a call that needs the present value: one that keeps it, or the last one.</summary>
    private Linear PlaceNeeding(int first, long value, long end)
    {
        var changing = -1;
        for (var i = first; i < _known && _operations[i].From <= end; i++)
        {
            if (IsPlaced(i) || _operations[i].Needs != value)
                continue;
            if (_operations[i].After(value) == value)
                return PlaceOne(first, [i], value);
            changing = i;
        }

        return changing >= 0 && _needed[value] == 1 ? PlaceOne(first, [changing], _operations[changing].After(value)) : Linear.No;
    }

    /// <summary>Places a write, or a call that needs a value that calls without a result have set.</summary>
    private Linear PlaceAny(int first, long value, long end)
    {
        List<int> unneeded = [];
        for (var i = first; i < _known && _operations[i].From <= end; i++)
        {
            if (!IsPlaced(i) && _operations[i].Verb == Verb.Write && !IsNeeded(_operations[i].Argument))
                unneeded.Add(i);
        }

        for (var i = first; i < _known && _operations[i].From <= end; i++)
        {
            if (IsPlaced(i) || unneeded.Contains(i))
                continue;
            List<int> bridge = [];
            if (_operations[i].Needs is { } needed && !TryBridge(value, needed, end, bridge))
                continue;
            var isBlind = _operations[bridge is [.., var start] ? start : i].Verb == Verb.Write;
            var found = PlaceOne(first, [i, .. bridge, .. isBlind ? unneeded : []], _operations[i].After(_operations[i].Needs ?? value));
            if (found != Linear.No)
                return found;
        }

        return unneeded.Count > 0 ? PlaceOne(first, unneeded, Unneeded) : Linear.No;
    }

    /// <summary>Places calls together, and then those that are left.</summary>
    private Linear PlaceOne(int first, List<int> together, long value)
    {
        foreach (var one in together)
            Flip(one, -1);
        var found = Place(first, value);
        if (found != Linear.No)
            return found;
        foreach (var one in together)
            Flip(one, 1);
        return Linear.No;
    }

    private bool IsNeeded(long value) => _needed.ContainsKey(value) || _expected.Contains(value);

    /// <summary>No call that was sent after this may be next.</summary>
    private long EndOfFirst(int first)
    {
        var end = long.MaxValue;
        for (var i = first; i < _known && _operations[i].From <= end; i++)
        {
            if (!IsPlaced(i))
                end = Math.Min(end, _operations[i].To);
        }

        return end;
    }

    /// <summary>Finds the calls without a result that turn one value into another; the last one is the first to happen.</summary>
    private bool TryBridge(long value, long target, long end, List<int> bridge) =>
        _writers.Count > 0 ? TryWrite(value, target, end, bridge) : TryAdd(value, target, end, bridge);

    private bool TryWrite(long value, long target, long end, List<int> bridge)
    {
        while (true)
        {
            if (!_writers.TryGetValue(target, out var writer) || writer < _known || IsPlaced(writer) || bridge.Contains(writer)
                || _operations[writer].From > end)
            {
                return false;
            }

            bridge.Add(writer);
            if (_operations[writer].Verb == Verb.Write || _operations[writer].Expected == value)
                return true;
            target = _operations[writer].Expected;
        }
    }

    private bool TryAdd(long value, long target, long end, List<int> bridge)
    {
        for (var i = _known; i < _operations.Length && value < target && _operations[i].From <= end; i++)
        {
            if (_operations[i].Verb != Verb.Add || IsPlaced(i))
                continue;
            bridge.Add(i);
            value++;
        }

        return value == target;
    }

    /// <summary>What is left that may be next, or that needs the present value.</summary>
    private List<Operation> Stuck(int first, long value, long end) => [.. Enumerable.Range(first, _known - first)
        .Where(i => !IsPlaced(i) && (_operations[i].From <= end || _operations[i].Needs == value)).Select(i => _operations[i])];

    private bool IsPlaced(int operation) => (_placed[operation >> 6] & (1UL << operation)) != 0;

    private void Flip(int operation, int change)
    {
        _placed[operation >> 6] ^= 1UL << operation;
        if (operation >= _known)
            return;
        _depth -= change;
        if (_operations[operation].Needs is { } needed)
            _needed[needed] += change;
    }

    /// <summary>Which calls are placed, and the value after them.</summary>
    private readonly record struct Configuration(ulong[] Placed, long Value)
    {
        public bool Equals(Configuration other) => Value == other.Value && Placed.AsSpan().SequenceEqual(other.Placed);

        public override int GetHashCode()
        {
            var hash = new HashCode();
            hash.Add(Value);
            foreach (var word in Placed)
                hash.Add(word);
            return hash.ToHashCode();
        }
    }
}
