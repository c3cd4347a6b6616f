namespace Orleans;

/// <summary>The marked base class has nothing to write and leaves no trace on the wire.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class SerializerTransparentAttribute : Attribute
{
}
