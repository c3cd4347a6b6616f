using System.Collections;
using System.Globalization;
using System.Reflection;
using System.Text;

namespace ActOp.Testing.Simulated;

/// <summary>One call of a history.</summary>
/// <param name="Text">For people: what was called and what it returned.</param>
/// <param name="Begun">When it was sent; no two moments of a history are the same.</param>
/// <param name="Ended">When its result was there; <see cref="NeverEnds"/> without one.</param>
/// <param name="Fits">Makes the call on the model; whether its result is the one that was returned. Throws where the model does.</param>
/// <param name="Same">What is equal for calls that do the same, so that one of them stands for all; null where that is not known.</param>
internal sealed record CallRecord<TModel>(string Text, long Begun, long Ended, Func<TModel, bool> Fits, string? Same = null)
{
    internal const long NeverEnds = long.MaxValue;

    /// <summary>Without a result, the call may have had its effect at any time since it was sent, or never.</summary>
    internal bool HasResult => Ended != NeverEnds;
}

/// <summary>What the search came to.</summary>
internal enum OrderVerdict
{
    Found,
    None,
    TooHard,
}

/// <summary>
/// Looks for an order of the calls of one object in which each has its effect at one moment between its begin and its end, and all results
/// are those of the model: linearizability. The search is that of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993) with
/// Lowe's memory of visited configurations ("Testing for linearizability", 2017).
/// </summary>
/// <remarks>
/// Owns the model that it changes. A model cannot be taken back, so it is made anew, and the calls before are made again, where the search
/// turns round. One caller at a time.
/// </remarks>
/// <param name="calls">The calls of one object.</param>
/// <param name="create">Makes the model of an object that nobody has called.</param>
/// <param name="most">Calls of the model, at most, and so many configurations are kept: a bound of time and memory.</param>
internal sealed class CallOrder<TModel>(IReadOnlyList<CallRecord<TModel>> calls, Func<TModel> create, long most)
{
    private readonly List<int> _order = [];
    private readonly HashSet<string> _visited = [];
    private readonly bool[] _isPlaced = new bool[calls.Count];
    /// <summary>The state of the model before the first call, and after each of <c>_order</c>; null where it has no text.</summary>
    private readonly List<string?> _digests = [DigestOf(create())];
    private TModel _model = create();
    private long _made;

    /// <summary>The longest order that was found: the calls, the first one first.</summary>
    internal IReadOnlyList<CallRecord<TModel>> Longest { get; private set; } = [];

    /// <summary>The calls with a result that are not in <see cref="Longest"/>.</summary>
    internal IReadOnlyList<CallRecord<TModel>> Left { get; private set; } = [.. calls.Where(static one => one.HasResult)];

    internal OrderVerdict Search()
    {
        // The call that was tried last at each depth.
        var tried = new Stack<int>();
        var next = 0;
        while (true)
        {
            if (IsComplete())
                return OrderVerdict.Found;
            if (_made > most)
                return OrderVerdict.TooHard;
            if (Candidate(next) is var candidate && candidate >= 0)
            {
                if (TryPlace(candidate))
                {
                    tried.Push(candidate);
                    next = 0;
                }
                else
                {
                    next = candidate + 1;
                }
            }
            else
            {
                if (!tried.TryPop(out var last))
                    return OrderVerdict.None;
                _isPlaced[last] = false;
                _order.RemoveAt(_order.Count - 1);
                _digests.RemoveAt(_digests.Count - 1);
                MakeAgain();
                next = last + 1;
            }
        }
    }

    private bool IsComplete()
    {
        for (var i = 0; i < calls.Count; i++)
        {
            if (!_isPlaced[i] && calls[i].HasResult)
                return false;
        }

        return true;
    }

    /// <summary>A call from that one on that may be next: none of those that are left has ended before it began. -1 for none.</summary>
    private int Candidate(int from)
    {
        var end = long.MaxValue;
        for (var i = 0; i < calls.Count; i++)
        {
            if (!_isPlaced[i])
                end = Math.Min(end, calls[i].Ended);
        }

        for (var i = from; i < calls.Count; i++)
        {
            if (!_isPlaced[i] && calls[i].Begun < end && !HasEarlierTwin(i))
                return i;
        }

        return -1;
    }

    /// <summary>
    /// Of calls without a result that do the same, the first one is placed first: the others would only repeat the search.
    /// </summary>
    private bool HasEarlierTwin(int call)
    {
        if (calls[call].HasResult || calls[call].Same is not { } same)
            return false;
        for (var i = 0; i < calls.Count; i++)
        {
            if (!_isPlaced[i] && !calls[i].HasResult && calls[i].Same == same && calls[i].Begun < calls[call].Begun)
                return true;
        }

        return false;
    }

    private bool TryPlace(int candidate)
    {
        _made++;
        bool fits;
        try
        {
            // Of a call without a result, the model's result is not compared.
            fits = calls[candidate].Fits(_model);
        }
        catch (Exception)
        {
            // The model refuses it here. A call that has returned cannot have been here, and another one has had no effect.
            fits = false;
        }

        _isPlaced[candidate] = true;
        // A call without a result that changes nothing need not be there.
        if (fits && DigestOf(_model) is var digest && IsNew(digest, mustChange: !calls[candidate].HasResult))
        {
            _order.Add(candidate);
            _digests.Add(digest);
            if (_order.Count > Longest.Count)
                Keep();
            return true;
        }

        _isPlaced[candidate] = false;
        MakeAgain();
        return false;
    }

    private void Keep()
    {
        Longest = [.. _order.Select(one => calls[one])];
        Left = [.. calls.Where((one, index) => !_isPlaced[index] && one.HasResult)];
    }

    /// <summary>Whether this model after these calls was not there before: their order does not matter for what follows.</summary>
    private bool IsNew(string? digest, bool mustChange)
    {
        if (digest is null)
            return true;
        if (mustChange && digest == _digests[^1])
            return false;
        var state = new StringBuilder(digest);
        foreach (var one in _isPlaced)
            state.Append(one ? '1' : '0');
        return _visited.Add(state.ToString());
    }

    private static string? DigestOf(TModel model)
    {
        var digest = new StringBuilder();
        return ModelDigest.TryAppend(model, digest) ? digest.ToString() : null;
    }

    private void MakeAgain()
    {
        _model = create();
        foreach (var one in _order)
        {
            calls[one].Fits(_model);
            _made++;
        }
    }
}

/// <summary>Writes the state of a model as text, so that two models with the same text behave in the same way.</summary>
internal static class ModelDigest
{
    private const int Deepest = 16;

    /// <summary>False if the model holds something that has no such text, such as a delegate or a cycle.</summary>
    internal static bool TryAppend(object? value, StringBuilder text) => TryAppend(value, text, 0);

    private static bool TryAppend(object? value, StringBuilder text, int depth)
    {
        if (depth > Deepest || value is Delegate or Pointer)
            return false;
        switch (value)
        {
            case null:
                text.Append("null;");
                return true;
            case string one:
                text.Append(CultureInfo.InvariantCulture, $"{one.Length}:{one};");
                return true;
            case IFormattable one when IsScalar(value.GetType()):
                text.Append(one.ToString(value is double or float ? "R" : null, CultureInfo.InvariantCulture)).Append(';');
                return true;
            case bool or char:
                text.Append(value).Append(';');
                return true;
            case IEnumerable items:
                return TryAppendItems(items, text, depth);
            default:
                return TryAppendFields(value, text, depth);
        }
    }

    private static bool IsScalar(Type type) =>
        type.IsPrimitive || type.IsEnum || type == typeof(decimal) || type == typeof(Guid) || type == typeof(TimeSpan);

    private static bool TryAppendItems(IEnumerable items, StringBuilder text, int depth)
    {
        List<string> parts = [];
        foreach (var item in items)
        {
            var part = new StringBuilder();
            if (!TryAppend(item, part, depth + 1))
                return false;
            parts.Add(part.ToString());
        }

        // Dictionaries and sets are equal in any order.
        if (items is not IList && IsUnordered(items.GetType()))
            parts.Sort(StringComparer.Ordinal);
        text.Append('[').AppendJoin(null, parts).Append(']');
        return true;
    }

    private static bool IsUnordered(Type type) =>
        type.GetInterfaces().Any(static one => one.IsGenericType
            && (one.GetGenericTypeDefinition() == typeof(IReadOnlySet<>) || one.GetGenericTypeDefinition() == typeof(ISet<>)
                || one.GetGenericTypeDefinition() == typeof(IDictionary<,>)));

    private static bool TryAppendFields(object value, StringBuilder text, int depth)
    {
        text.Append('{');
        for (var type = value.GetType(); type is not null && type != typeof(object); type = type.BaseType)
        {
            const BindingFlags own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
            foreach (var field in type.GetFields(own))
            {
                if (!TryAppend(field.GetValue(value), text, depth + 1))
                    return false;
            }
        }

        text.Append('}');
        return true;
    }
}
