namespace Microsoft.Extensions.Logging;

internal interface ILogger;

internal enum LogLevel
{
    Information,
}

/// <summary>Only named.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class LoggerMessageAttribute(int id, LogLevel level, string message) : Attribute
{
    internal int Id => id;

    internal LogLevel Level => level;

    internal string Message => message;
}
