using System.Globalization;

namespace Orleans.Runtime;

/// <summary>A configured limit was reached; what would have exceeded it was refused.</summary>
public sealed class LimitExceededException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public LimitExceededException()
        : base("A limit was exceeded.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public LimitExceededException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public LimitExceededException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    /// <summary>Creates the exception for a limit by name.</summary>
    /// <param name="limitName">The option.</param>
    /// <param name="current">The value reached.</param>
    /// <param name="threshold">The limit.</param>
    /// <param name="extraInfo">What it concerns, for example the grain.</param>
    public LimitExceededException(string limitName, int current, int threshold, object extraInfo)
        : base(string.Create(CultureInfo.InvariantCulture, $"Limit {limitName} exceeded: {current} where at most {threshold} are allowed. {extraInfo}"))
    {
    }
}
