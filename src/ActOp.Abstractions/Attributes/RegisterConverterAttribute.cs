namespace Orleans;

/// <summary>Registers the marked <see cref="IConverter{TValue, TSurrogate}"/>.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class RegisterConverterAttribute : Attribute
{
}
