namespace Orleans;

/// <summary>Generates code for the types of another assembly, which has none of its own.</summary>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
public sealed class GenerateCodeForDeclaringAssemblyAttribute : Attribute
{
    /// <summary>Names the assembly by one of its types.</summary>
    public GenerateCodeForDeclaringAssemblyAttribute(Type type) => Type = type;

    /// <summary>A type of the assembly.</summary>
    public Type Type { get; }
}
