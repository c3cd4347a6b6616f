namespace Orleans;

/// <summary>A name on the wire that is put together from types and texts.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Enum | AttributeTargets.Interface, AllowMultiple = true)]
public sealed class CompoundTypeAliasAttribute : Attribute
{
    /// <summary>Sets the parts.</summary>
    public CompoundTypeAliasAttribute(params object[] components) => Components = components;

    /// <summary>The parts: types and texts.</summary>
    public object[] Components { get; }
}
