namespace Orleans;

/// <summary>On the base class of references: which request class methods with a given return type use.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class DefaultInvokableBaseTypeAttribute : Attribute
{
    /// <summary>Maps a return type to a request class.</summary>
    public DefaultInvokableBaseTypeAttribute(Type returnType, Type invokableBaseType)
    {
        ReturnType = returnType;
        InvokableBaseType = invokableBaseType;
    }

    /// <summary>Base class of the generated requests.</summary>
    public Type InvokableBaseType { get; }

    /// <summary>The method of the reference that sends the request, or null for the usual one.</summary>
    public string? ProxyInvokeMethodName { get; init; }

    /// <summary>The methods' return type.</summary>
    public Type ReturnType { get; }
}
