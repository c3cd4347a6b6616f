namespace Orleans.Invocation;

/// <summary>On a request class: the generated reference returns what a method of the request returns, instead of sending it.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class ReturnValueProxyAttribute : Attribute
{
    /// <summary>Names the method of the request that gets the reference.</summary>
    public ReturnValueProxyAttribute(string initializerMethodName) => InitializerMethodName = initializerMethodName;

    /// <summary>The method of the request.</summary>
    public string InitializerMethodName { get; }
}
