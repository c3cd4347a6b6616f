namespace Orleans;

/// <summary>Promises that values are never changed after they were passed on: they are shared instead of copied.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Property | AttributeTargets.Field | AttributeTargets.Parameter | AttributeTargets.ReturnValue)]
public sealed class ImmutableAttribute : Attribute
{
}
