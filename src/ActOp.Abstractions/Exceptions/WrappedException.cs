using System.Diagnostics.CodeAnalysis;
using System.Runtime.ExceptionServices;

namespace Orleans.Runtime;

/// <summary>Stands for an exception whose own type must not leave the process; carries its type's name and its message.</summary>
public class WrappedException : OrleansException
{
    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public WrappedException(string message)
        : base(message)
    {
    }

    /// <summary>The full name of the original exception's type, or null.</summary>
    public string? OriginalExceptionType { get; set; }

    /// <summary>Throws a wrapped form of <paramref name="exception"/> that keeps its stack trace and, wrapped too, its causes.</summary>
    [DoesNotReturn]
    public static void CreateAndRethrow(Exception exception)
    {
        ArgumentNullException.ThrowIfNull(exception);
        var wrapped = exception as WrappedException ?? new WrappedException(exception.GetType().Name + ": " + exception.Message) { OriginalExceptionType = exception.GetType().FullName };
        if (exception.StackTrace is { } trace && wrapped.StackTrace is null)
            ExceptionDispatchInfo.SetRemoteStackTrace(wrapped, trace);
        ExceptionDispatchInfo.Throw(wrapped);
    }

    /// <inheritdoc/>
    public override string ToString() => nameof(WrappedException) + " OriginalType: " + OriginalExceptionType + ", Message: " + Message + Environment.NewLine + StackTrace;
}
