namespace Orleans.Runtime;

/// <summary>What travels with calls beside their arguments. Never changed once it is shared: every change makes a new one.</summary>
internal sealed class RequestContextData
{
    /// <summary>Values by key; null when there are none.</summary>
    internal Dictionary<string, object>? Values;

    /// <summary>Id of the call chain that may re-enter activations, or empty.</summary>
    internal Guid ReentrancyId;
}
