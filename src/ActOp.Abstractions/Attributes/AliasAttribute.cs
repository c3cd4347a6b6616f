namespace Orleans;

/// <summary>The name of a type or method on the wire, which stays when the code is renamed.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Enum | AttributeTargets.Method | AttributeTargets.Interface, AllowMultiple = true, Inherited = false)]
public sealed class AliasAttribute : Attribute
{
    /// <summary>Sets the name.</summary>
    public AliasAttribute(string alias)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(alias);
        Alias = alias;
    }

    /// <summary>The name.</summary>
    public string Alias { get; }
}
