namespace Orleans;

/// <summary>Asks for a generated codec: the type can then be an argument, a result or part of one.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Enum, Inherited = false)]
public sealed class GenerateSerializerAttribute : Attribute
{
    /// <summary>Which members without <see cref="IdAttribute"/> get an id of their own.</summary>
    public GenerateFieldIds GenerateFieldIds { get; init; }

    /// <summary>True, the default for records, when the parameters of the primary constructor are members with ids.</summary>
    public bool IncludePrimaryConstructorParameters { get; init; }
}
