using System.Globalization;

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

/// <summary>Which request class methods with a given return type use when the reference derives from a given class.</summary>
[AttributeUsage(AttributeTargets.Assembly | AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Interface,
    AllowMultiple = true)]
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

/// <summary>On a request class: the method of the reference that sends requests of this class, in place of <c>InvokeAsync</c>.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class InvokeMethodNameAttribute : Attribute
{
    /// <summary>Names the method.</summary>
    public InvokeMethodNameAttribute(string invokeMethodName) => InvokeMethodName = invokeMethodName;

    /// <summary>The method.</summary>
    public string InvokeMethodName { get; }
}

/// <summary>
/// On a base class of references: its method that sends the requests of methods with a given return type, in place of
/// <c>InvokeAsync</c>.
/// </summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class DefaultInvokeMethodNameAttribute : Attribute
{
    /// <summary>Names the method for a return type.</summary>
    public DefaultInvokeMethodNameAttribute(Type returnType, string methodName)
    {
        ReturnType = returnType;
        MethodName = methodName;
    }

    /// <summary>The method.</summary>
    public string MethodName { get; }

    /// <summary>The return type; an open generic one means all that are made of it.</summary>
    public Type ReturnType { get; }
}

/// <summary>On an attribute for grain methods: the generated request calls a method when it is made.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class InvokableCustomInitializerAttribute : Attribute
{
    /// <summary>
    /// Calls <paramref name="methodName"/> with an argument of the attribute: the first one, or that which a property names.
    /// </summary>
    public InvokableCustomInitializerAttribute(string methodName) => MethodName = methodName;

    /// <summary>Calls <paramref name="methodName"/> with <paramref name="methodArgumentValue"/>.</summary>
    public InvokableCustomInitializerAttribute(string methodName, object methodArgumentValue)
    {
        MethodName = methodName;
        MethodArgumentValue = methodArgumentValue;
    }

    /// <summary>Which constructor argument of the attribute is passed, if this is set; -1 for none.</summary>
    public int AttributeArgumentIndex { get; init; } = -1;

    /// <summary>The position of the named argument of the attribute that is passed, if this is set.</summary>
    public int AttributeArgumentName { get; init; }

    /// <summary>The argument, or null.</summary>
    public object? MethodArgumentValue { get; }

    /// <summary>The method of the request.</summary>
    public string MethodName { get; }
}

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

/// <summary>How long callers of the marked method wait for its answer.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class ResponseTimeoutAttribute : Attribute
{
    /// <summary>Sets the time.</summary>
    /// <param name="timeout">In the notation of <see cref="TimeSpan"/>: <c>hh:mm:ss</c>.</param>
    /// <exception cref="FormatException">The text is no time.</exception>
    public ResponseTimeoutAttribute(string timeout) => Timeout = TimeSpan.Parse(timeout, CultureInfo.InvariantCulture);

    /// <summary>The time, or null for the configured one.</summary>
    public TimeSpan? Timeout { get; init; }
}
