namespace Orleans;

/// <summary>Generates references and calls for the marked interface and those that derive from it.</summary>
[AttributeUsage(AttributeTargets.Interface, AllowMultiple = true)]
public sealed class GenerateMethodSerializersAttribute : Attribute
{
    /// <summary>Sets the base class of the references.</summary>
    /// <param name="proxyBase">Base class of the generated references.</param>
    /// <param name="isExtension">True for interfaces of extensions.</param>
    public GenerateMethodSerializersAttribute(Type proxyBase, bool isExtension = false)
    {
        ProxyBase = proxyBase;
        IsExtension = isExtension;
    }

    /// <summary>True for interfaces of extensions.</summary>
    public bool IsExtension { get; }

    /// <summary>Base class of the generated references.</summary>
    public Type ProxyBase { get; }
}
