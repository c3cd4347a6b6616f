namespace Orleans;

/// <summary>Registers the marked codec for the type that it handles.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class RegisterSerializerAttribute : Attribute
{
}
