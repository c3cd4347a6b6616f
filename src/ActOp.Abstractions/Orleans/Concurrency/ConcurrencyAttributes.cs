using Orleans.Metadata;
using Orleans.Placement;
using Orleans.Runtime;

namespace Orleans.Concurrency;

/// <summary>No reply is sent: the caller continues at once and gets no exception.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class OneWayAttribute : Attribute
{
}

/// <summary>Calls of the marked method change nothing and run beside other read-only calls of the same activation.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class ReadOnlyAttribute : Attribute
{
}

/// <summary>
/// The order of calls through the marked interface does not matter. It never does between two calls; the requests say that it was said
/// (<see cref="CodeGeneration.InvokeMethodOptions.Unordered"/>).
/// </summary>
[Obsolete("The order of messages is not guaranteed.")]
[AttributeUsage(AttributeTargets.Interface)]
public sealed class UnorderedAttribute : Attribute
{
}

/// <summary>Calls of the marked method run beside any other calls of the same activation.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class AlwaysInterleaveAttribute : Attribute
{
}

/// <summary>A method of the marked grain says for each call whether it may run beside others.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class MayInterleaveAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <summary>Names the method.</summary>
    /// <param name="callbackMethodName">A method of the class, static or not: <c>bool name(IInvokable call)</c>.</param>
    public MayInterleaveAttribute(string callbackMethodName)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(callbackMethodName);
        CallbackMethodName = callbackMethodName;
    }

    internal string CallbackMethodName { get; }

    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.MayInterleavePredicate] = CallbackMethodName;
}

/// <summary>Calls of the marked grain run beside each other: others go on while one waits.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ReentrantAttribute : Attribute, IGrainPropertiesProviderAttribute
{
    /// <inheritdoc/>
    public void Populate(IServiceProvider services, Type grainClass, GrainType grainType, Dictionary<string, string> properties) =>
        properties[WellKnownGrainTypeProperties.Reentrant] = "true";
}

/// <summary>
/// Calls of the marked grain always stay on the caller's silo, which runs as many activations of it as are busy at once, up to a limit.
/// </summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class StatelessWorkerAttribute : PlacementAttribute
{
    /// <summary>Up to one activation per processor.</summary>
    public StatelessWorkerAttribute()
        : base(new StatelessWorkerPlacement())
    {
    }

    /// <summary>Up to <paramref name="maxLocalWorkers"/> activations per silo.</summary>
    public StatelessWorkerAttribute(int maxLocalWorkers)
        : base(new StatelessWorkerPlacement(maxLocalWorkers))
    {
    }

    /// <summary>Up to <paramref name="maxLocalWorkers"/> activations per silo.</summary>
    /// <param name="maxLocalWorkers">The limit, from 1; anything less means one per processor.</param>
    /// <param name="removeIdleWorkers">Whether activations that are not needed end soon.</param>
    public StatelessWorkerAttribute(int maxLocalWorkers, bool removeIdleWorkers)
        : base(new StatelessWorkerPlacement(maxLocalWorkers, removeIdleWorkers))
    {
    }
}

/// <summary>A value that is not modified any more: it is shared between grains instead of copied.</summary>
/// <typeparam name="T">The value's type.</typeparam>
[GenerateSerializer]
[Immutable]
public readonly record struct Immutable<T>
{
    /// <summary>The value.</summary>
    [Id(0)]
    public readonly T Value;

    /// <summary>Promises that <paramref name="value"/> is not changed any more.</summary>
    public Immutable(T value) => Value = value;
}

/// <summary>Makes immutable values.</summary>
public static class ImmutableExtensions
{
    /// <summary>Promises that <paramref name="value"/> is not changed any more.</summary>
    public static Immutable<T> AsImmutable<T>(this T value) => new(value);
}
