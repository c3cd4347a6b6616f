using Orleans.Metadata;
using Orleans.Runtime;

namespace Orleans.Concurrency;

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
