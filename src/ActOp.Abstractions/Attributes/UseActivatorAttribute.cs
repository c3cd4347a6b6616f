namespace Orleans;

/// <summary>Objects of the marked type are created by a registered activator.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class UseActivatorAttribute : Attribute
{
}
