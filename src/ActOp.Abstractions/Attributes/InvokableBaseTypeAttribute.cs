namespace Orleans;

/// <summary>Which request class methods with a given return type use when the reference derives from a given class.</summary>
[AttributeUsage(AttributeTargets.Assembly | AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Interface, AllowMultiple = true)]
public sealed class InvokableBaseTypeAttribute : Attribute
{
    /// <summary>Maps a return type to a request class.</summary>
    public InvokableBaseTypeAttribute(Type proxyBaseClass, Type returnType, Type invokableBaseType)
    {
        ProxyBaseClass = proxyBaseClass;
        ReturnType = returnType;
        InvokableBaseType = invokableBaseType;
    }

    /// <summary>Base class of the generated requests.</summary>
    public Type InvokableBaseType { get; }

    /// <summary>Base class of the references that are meant.</summary>
    public Type ProxyBaseClass { get; }

    /// <summary>The method of the reference that sends the request, or null for the usual one.</summary>
    public string? ProxyInvokeMethodName { get; init; }

    /// <summary>The methods' return type.</summary>
    public Type ReturnType { get; }
}
