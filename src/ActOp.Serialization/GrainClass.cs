namespace ActOp.Serialization;

/// <summary>A grain class of the manifest.</summary>
/// <param name="type">The class; an open generic type for generic grains.</param>
/// <param name="grainType">The text of its GrainType, by attribute or by convention.</param>
public sealed class GrainClass(Type type, string grainType)
{
    private Type[]? _interfaces;

    /// <summary>The class; an open generic type for generic grains.</summary>
    public Type Type { get; } = type;

    /// <summary>The text of its GrainType.</summary>
    public string GrainType { get; } = grainType;

    /// <summary>
    /// The grain interfaces it implements. For an open generic class they have the class's type parameters as arguments.
    /// </summary>
    public IReadOnlyList<Type> Interfaces => _interfaces ??= Type.GetInterfaces().Where(static i => TypeManifest.IsGrainInterface(i)).ToArray();
}
