namespace Orleans;

/// <summary>Names an assembly that contains grains or codecs.</summary>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
public sealed class ApplicationPartAttribute : Attribute
{
    /// <summary>Sets the assembly's name.</summary>
    public ApplicationPartAttribute(string assemblyName) => AssemblyName = assemblyName;

    /// <summary>The assembly's name.</summary>
    public string AssemblyName { get; }
}

/// <summary>Generates code for the types of another assembly, which has none of its own.</summary>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
public sealed class GenerateCodeForDeclaringAssemblyAttribute : Attribute
{
    /// <summary>Names the assembly by one of its types.</summary>
    public GenerateCodeForDeclaringAssemblyAttribute(Type type) => Type = type;

    /// <summary>A type of the assembly.</summary>
    public Type Type { get; }
}

/// <summary>Registers a provider so that configuration can name it.</summary>
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
public sealed class RegisterProviderAttribute : Attribute
{
    /// <summary>Registers a provider.</summary>
    /// <param name="name">The name that configuration uses.</param>
    /// <param name="kind">What it provides, for example <c>Clustering</c>.</param>
    /// <param name="target"><c>Silo</c> or <c>Client</c>.</param>
    /// <param name="type">The class that adds it to a builder.</param>
    public RegisterProviderAttribute(string name, string kind, string target, Type type)
    {
        Name = name;
        Kind = kind;
        Target = target;
        Type = type;
    }

    /// <summary>What it provides.</summary>
    public string Kind { get; }

    /// <summary>The name that configuration uses.</summary>
    public string Name { get; }

    /// <summary><c>Silo</c> or <c>Client</c>.</summary>
    public string Target { get; }

    /// <summary>The class that adds it to a builder.</summary>
    public Type Type { get; }
}
