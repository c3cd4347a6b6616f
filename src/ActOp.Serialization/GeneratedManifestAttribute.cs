using System.ComponentModel;

namespace ActOp.Serialization;

/// <summary>Marks an assembly whose module initializer registers generated code in the <see cref="TypeManifest"/>.</summary>
/// <param name="manifest">The generated class.</param>
[AttributeUsage(AttributeTargets.Assembly)]
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class GeneratedManifestAttribute(Type manifest) : Attribute
{
    /// <summary>The generated class.</summary>
    public Type Manifest { get; } = manifest;
}
