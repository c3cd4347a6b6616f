namespace Orleans;

/// <summary>Registers the marked copier for the type that it handles.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class RegisterCopierAttribute : Attribute
{
}
