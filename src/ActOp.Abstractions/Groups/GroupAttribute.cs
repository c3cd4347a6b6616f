using Orleans.Runtime;

namespace ActOp.Groups;

/// <summary>
/// Puts the grains of the class into a group: they share its budget on each silo. The silo must have a group of this name
/// (<c>AddGroups</c>), or does not start. A silo without any group ignores the attribute.
/// </summary>
/// <param name="name">The name of the group.</param>
[AttributeUsage(AttributeTargets.Class)]
public sealed class GroupAttribute(string name) : Attribute
{
    /// <summary>The name of the group.</summary>
    public string Name { get; } = name;
}

/// <summary>
/// What a request to this method of a grain interface costs: how long it computes. With <c>BudgetMode.Ticks</c> a request starts only if
/// that fits into what the group of the grain has left in the interval; without a cost, whenever the group has anything left. In other
/// modes, and for methods that always interleave, it has no effect. Source: "Approaching Actor-Level Resource Control for Akka",
/// pre-estimated execution time.
/// </summary>
/// <param name="milliseconds">Of one processor; above 0. A silo with <c>BudgetMode.Ticks</c> does not start with another value.</param>
[AttributeUsage(AttributeTargets.Method)]
public sealed class CostAttribute(double milliseconds) : Attribute
{
    /// <summary>How long a request computes, in milliseconds of one processor.</summary>
    public double Milliseconds { get; } = milliseconds;
}

/// <summary>A call was refused because a limit of the group of its grain is reached. It did not run.</summary>
/// <remarks>The details are in <see cref="Exception.Data"/>, which travels with every exception.</remarks>
public sealed class GroupOverloadedException : OrleansException
{
    private const string GroupKey = "Group";
    private const string LimitKey = "Limit";
    private const string RetryAfterKey = "RetryAfterMilliseconds";

    /// <summary>Creates the exception with a message of its own.</summary>
    public GroupOverloadedException()
        : base("A limit of a group was reached.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public GroupOverloadedException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public GroupOverloadedException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    /// <summary>Creates the exception with its details.</summary>
    /// <param name="message">The message.</param>
    /// <param name="group">The group.</param>
    /// <param name="limit">The option that has the limit, for example <c>MaxCallsPerSecond</c>.</param>
    /// <param name="retryAfter">How long the caller should wait at least.</param>
    public GroupOverloadedException(string message, string group, string limit, TimeSpan retryAfter)
        : base(message)
    {
        Data[GroupKey] = group;
        Data[LimitKey] = limit;
        Data[RetryAfterKey] = (long)Math.Ceiling(retryAfter.TotalMilliseconds);
    }

    /// <summary>The group; empty if it is not known.</summary>
    public string Group => Data[GroupKey] as string ?? "";

    /// <summary>The option that has the limit; empty if it is not known.</summary>
    public string Limit => Data[LimitKey] as string ?? "";

    /// <summary>
    /// How long the caller should wait at least before it calls grains of the group on that silo again, in whole milliseconds. An estimate:
    /// exact for a limit of calls per second, by the measured time of a turn for one of waiting calls.
    /// </summary>
    public TimeSpan RetryAfter => TimeSpan.FromMilliseconds(Data[RetryAfterKey] as long? ?? 0);
}
