namespace Orleans;

/// <summary>On an attribute for grain methods: the generated request calls a method when it is made.</summary>
[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
public sealed class InvokableCustomInitializerAttribute : Attribute
{
    /// <summary>Calls <paramref name="methodName"/> with an argument of the attribute, see <see cref="AttributeArgumentIndex"/>.</summary>
    public InvokableCustomInitializerAttribute(string methodName) => MethodName = methodName;

    /// <summary>Calls <paramref name="methodName"/> with <paramref name="methodArgumentValue"/>.</summary>
    public InvokableCustomInitializerAttribute(string methodName, object methodArgumentValue)
    {
        MethodName = methodName;
        MethodArgumentValue = methodArgumentValue;
    }

    /// <summary>Which constructor argument of the attribute is passed; -1 for none.</summary>
    public int AttributeArgumentIndex { get; init; } = -1;

    /// <summary>Which named argument of the attribute is passed.</summary>
    public int AttributeArgumentName { get; init; }

    /// <summary>The argument, or null.</summary>
    public object? MethodArgumentValue { get; }

    /// <summary>The method of the request.</summary>
    public string MethodName { get; }
}
