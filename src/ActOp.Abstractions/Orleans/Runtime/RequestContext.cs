using ActOp.Calls;
using Orleans.Core.Internal;

namespace Orleans.Runtime;

/// <summary>Values that travel with calls beside their arguments: from the caller to the callee and on, never back.</summary>
/// <remarks>
/// Each call takes what was set when it was sent; what the callee changes, its caller does not see. The values flow
/// with the execution context. Reading costs a static field until a value is set in the process.
/// </remarks>
public static class RequestContext
{
    private static readonly AsyncLocal<RequestContextData?> Local = new();
    private static volatile bool s_used;

    /// <summary>All values by key.</summary>
    public static IEnumerable<KeyValuePair<string, object>> Entries => Current?.Values ?? (IEnumerable<KeyValuePair<string, object>>)[];

    /// <summary>All keys.</summary>
    public static IEnumerable<string> Keys => Current?.Values?.Keys ?? (IEnumerable<string>)[];

    /// <summary>Id of the call chain that may re-enter activations; empty when there is none.</summary>
    public static Guid ReentrancyId
    {
        get => Current?.ReentrancyId ?? Guid.Empty;
        set
        {
            var before = Current;
            if ((before?.ReentrancyId ?? Guid.Empty) != value)
                Current = Make(before?.Values, value);
        }
    }

    /// <summary>The values of the current execution context; null if none are set. Must not be modified.</summary>
    internal static RequestContextData? Current
    {
        get => s_used ? Local.Value : null;
        set
        {
            if (!s_used)
            {
                if (value is null)
                    return;
                s_used = true;
            }

            // Setting what is set already neither writes nor allocates: AsyncLocal compares first.
            Local.Value = value;
        }
    }

    /// <summary>Removes all values.</summary>
    public static void Clear() => Current = null;

    /// <summary>The value of <paramref name="key"/>, or null.</summary>
    public static object? Get(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return Current?.Values is { } values && values.TryGetValue(key, out var value) ? value : null;
    }

    /// <summary>Removes the value of <paramref name="key"/>; false when there was none.</summary>
    public static bool Remove(string key)
    {
        ArgumentNullException.ThrowIfNull(key);
        if (Current is not { Values: { } before } current || !before.ContainsKey(key))
            return false;
        var values = new Dictionary<string, object>(before);
        values.Remove(key);
        Current = Make(values, current.ReentrancyId);
        return true;
    }

    /// <summary>Sets the value of <paramref name="key"/> for all calls from here on. It must be serializable.</summary>
    public static void Set(string key, object value)
    {
        ArgumentNullException.ThrowIfNull(key);
        var before = Current;
        var values = before?.Values is { } old ? new Dictionary<string, object>(old) : [];
        values[key] = value;
        Current = Make(values, before?.ReentrancyId ?? Guid.Empty);
    }

    /// <summary>
    /// Until the section is disposed, calls that descend from calls made here may run beside them on the calling activation.
    /// </summary>
    public static ReentrancySection AllowCallChainReentrancy()
    {
        var original = ReentrancyId;
        return new ReentrancySection(original, original == Guid.Empty ? Guid.NewGuid() : original);
    }

    /// <summary>Until the section is disposed, calls made here are not part of a call chain that may re-enter activations.</summary>
    public static ReentrancySection SuppressCallChainReentrancy() => new(ReentrancyId, Guid.Empty);

    /// <summary>A stretch of code whose calls belong, or do not belong, to a call chain that may re-enter activations.</summary>
    /// <remarks>Ends on the activation that it began on, wherever it is disposed. Outside of grains only the id changes.</remarks>
    public readonly struct ReentrancySection : IDisposable
    {
        private readonly Guid _original;
        private readonly Guid _entered;
        private readonly ICallChainReentrantGrainContext? _activation;

        /// <summary>Begins a section.</summary>
        /// <param name="originalReentrancyId">The id that is set again at the end.</param>
        /// <param name="newReentrancyId">The id inside; empty to leave call chains.</param>
        public ReentrancySection(Guid originalReentrancyId, Guid newReentrancyId)
        {
            _original = originalReentrancyId;
            _entered = newReentrancyId;
            if (newReentrancyId != Guid.Empty)
            {
                _activation = CallHost.Current as ICallChainReentrantGrainContext;
                _activation?.OnEnterReentrantSection(newReentrancyId);
            }

            ReentrancyId = newReentrancyId;
        }

        /// <summary>Ends the section.</summary>
        public readonly void Dispose()
        {
            _activation?.OnExitReentrantSection(_entered);
            ReentrancyId = _original;
        }
    }

    /// <summary>A copy of the values that the receiver may change; null when there are none.</summary>
    internal static Dictionary<string, object>? CopyValues() =>
        Current?.Values is { } values ? new Dictionary<string, object>(values) : null;

    private static RequestContextData? Make(Dictionary<string, object>? values, Guid reentrancyId)
    {
        if (values is { Count: 0 })
            values = null;
        return values is null && reentrancyId == Guid.Empty
            ? null : new RequestContextData { Values = values, ReentrancyId = reentrancyId };
    }
}

/// <summary>What travels with calls beside their arguments. Never changed once it is shared: every change makes a new one.</summary>
internal sealed class RequestContextData
{
    /// <summary>Values by key; null when there are none.</summary>
    internal Dictionary<string, object>? Values;

    /// <summary>Id of the call chain that may re-enter activations, or empty.</summary>
    internal Guid ReentrancyId;
}
