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
