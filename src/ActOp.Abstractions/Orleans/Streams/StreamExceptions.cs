using Orleans.Runtime;

namespace Orleans.Streams;

/// <summary>Items that were asked for are gone.</summary>
public class DataNotAvailableException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public DataNotAvailableException()
        : base("The items are not available.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public DataNotAvailableException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public DataNotAvailableException(string message, Exception inner)
        : base(message, inner)
    {
    }
}

/// <summary>The item at a position is not in the cache of the queue any more.</summary>
public sealed class QueueCacheMissException : DataNotAvailableException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public QueueCacheMissException()
        : base("The item is not in the cache of the queue.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public QueueCacheMissException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public QueueCacheMissException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    /// <summary>Creates the exception for a position that the cache has not.</summary>
    public QueueCacheMissException(StreamSequenceToken requested, StreamSequenceToken low, StreamSequenceToken high)
        : this(requested?.ToString(), low?.ToString(), high?.ToString())
    {
    }

    /// <summary>Creates the exception for a position that the cache has not.</summary>
    public QueueCacheMissException(string? requested, string? low, string? high)
        : base("The item at " + requested + " is not in the cache of the queue, which has " + low + " to " + high + ".")
    {
        Requested = requested;
        Low = low;
        High = high;
    }

    /// <summary>The newest position in the cache.</summary>
    public string? High { get; }

    /// <summary>The oldest position in the cache.</summary>
    public string? Low { get; }

    /// <summary>The position that was asked for.</summary>
    public string? Requested { get; }
}

/// <summary>The cache of a queue takes no more items.</summary>
public sealed class CacheFullException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public CacheFullException()
        : base("The cache of the queue is full.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public CacheFullException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public CacheFullException(string message, Exception inner)
        : base(message, inner)
    {
    }
}

/// <summary>The subscription was ended after a failure and cannot be used any more.</summary>
public sealed class FaultedSubscriptionException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public FaultedSubscriptionException()
        : base("The subscription has failed.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public FaultedSubscriptionException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public FaultedSubscriptionException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>An item could not be delivered within the time limit and was skipped.</summary>
public sealed class StreamEventDeliveryFailureException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public StreamEventDeliveryFailureException()
        : base("An item could not be delivered.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public StreamEventDeliveryFailureException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public StreamEventDeliveryFailureException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}

/// <summary>A stream provider could not be started.</summary>
public sealed class ProviderStartException : OrleansException
{
    /// <summary>Creates the exception with a message of its own.</summary>
    public ProviderStartException()
        : base("The provider could not be started.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public ProviderStartException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public ProviderStartException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
