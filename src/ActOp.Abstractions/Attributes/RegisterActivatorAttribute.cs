namespace Orleans;

/// <summary>Registers the marked activator for the type that it creates.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class RegisterActivatorAttribute : Attribute
{
}
