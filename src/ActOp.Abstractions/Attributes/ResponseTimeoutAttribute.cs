using System.Globalization;

namespace Orleans;

/// <summary>How long callers of the marked method wait for its answer.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class ResponseTimeoutAttribute : Attribute
{
    /// <summary>Sets the time.</summary>
    /// <param name="timeout">In the notation of <see cref="TimeSpan"/>: <c>hh:mm:ss</c>.</param>
    /// <exception cref="FormatException">The text is no time.</exception>
    public ResponseTimeoutAttribute(string timeout) => Timeout = TimeSpan.Parse(timeout, CultureInfo.InvariantCulture);

    /// <summary>The time, or null for the configured one.</summary>
    public TimeSpan? Timeout { get; init; }
}
