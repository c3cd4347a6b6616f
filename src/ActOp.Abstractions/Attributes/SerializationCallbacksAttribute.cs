namespace Orleans;

/// <summary>Calls methods of a class before and after objects of the marked type are written, read and copied.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct, AllowMultiple = true)]
public sealed class SerializationCallbacksAttribute : Attribute
{
    /// <summary>Sets the class with the methods.</summary>
    public SerializationCallbacksAttribute(Type hookType) => HookType = hookType;

    /// <summary>The class with the methods.</summary>
    public Type HookType { get; }
}
