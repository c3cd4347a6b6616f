namespace Orleans.Runtime;

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
