namespace Orleans.Serialization.Codecs;

/// <summary>Types that codecs of text leave to others.</summary>
public static class CommonCodecTypeFilter
{
    /// <summary>True for an abstract type, and for one of the framework.</summary>
    public static bool IsAbstractOrFrameworkType(Type type) =>
        type.IsAbstract || type.ContainsGenericParameters || type.Assembly == typeof(object).Assembly
        || type.FullName is not { } name || name.StartsWith("System.", StringComparison.Ordinal);
}
