using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.ExceptionServices;

namespace Orleans.Runtime;

/// <summary>Something in the runtime went wrong; base of the exceptions that tell what.</summary>
public class OrleansException : Exception
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public OrleansException()
        : base("The runtime failed.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>The configuration is wrong: the message names the option.</summary>
public sealed class OrleansConfigurationException : Exception
{
    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansConfigurationException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansConfigurationException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>A call was refused on its way and did not run.</summary>
public class OrleansMessageRejectionException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public OrleansMessageRejectionException()
        : base("The call was refused.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansMessageRejectionException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansMessageRejectionException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>The silo that was to run a call, or ran it, is gone or cannot be reached. The call may have run.</summary>
public sealed class SiloUnavailableException : OrleansMessageRejectionException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public SiloUnavailableException()
        : base("The silo is not available.")
    {
    }

    /// <summary>Creates the exception with <paramref name="msg"/>.</summary>
    public SiloUnavailableException(string msg)
        : base(msg)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public SiloUnavailableException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>The client that a call was meant for is no longer connected.</summary>
public sealed class ClientNotAvailableException : OrleansException
{
    internal ClientNotAvailableException(GrainId clientId)
        : base("No client with the id " + clientId + " is connected.")
    {
    }

    internal ClientNotAvailableException(string message)
        : base(message)
    {
    }
}

/// <summary>A silo refuses calls from clients because it is overloaded.</summary>
public sealed class GatewayTooBusyException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public GatewayTooBusyException()
        : base("The gateway is too busy.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public GatewayTooBusyException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public GatewayTooBusyException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

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
        : base(string.Create(
            CultureInfo.InvariantCulture, $"Limit {limitName} exceeded: {current} where at most {threshold} are allowed. {extraInfo}"))
    {
    }
}

/// <summary>A call came for an extension that the activation does not have.</summary>
public sealed class GrainExtensionNotInstalledException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public GrainExtensionNotInstalledException()
        : base("The grain extension is not installed.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public GrainExtensionNotInstalledException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public GrainExtensionNotInstalledException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>A grain reference that belongs to no runtime was used.</summary>
public sealed class GrainReferenceNotBoundException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public GrainReferenceNotBoundException()
        : base("The grain reference is not bound to a runtime.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public GrainReferenceNotBoundException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public GrainReferenceNotBoundException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>A lifecycle was stopped before its start had ended.</summary>
public sealed class OrleansLifecycleCanceledException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public OrleansLifecycleCanceledException()
        : base("The lifecycle was cancelled.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public OrleansLifecycleCanceledException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public OrleansLifecycleCanceledException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

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
        var wrapped = exception as WrappedException
            ?? new WrappedException(
                exception.GetType().Name + ": " + exception.Message)
            { OriginalExceptionType = exception.GetType().FullName };
        if (exception.StackTrace is { } trace && wrapped.StackTrace is null)
            ExceptionDispatchInfo.SetRemoteStackTrace(wrapped, trace);
        ExceptionDispatchInfo.Throw(wrapped);
    }

    /// <inheritdoc/>
    public override string ToString() =>
        nameof(WrappedException) + " OriginalType: " + OriginalExceptionType + ", Message: " + Message + Environment.NewLine + StackTrace;
}
