using Orleans.Runtime;

namespace ActOp.Serialization;

/// <summary>A grain interface of the manifest; for generic interfaces, the definition or one that was constructed from it.</summary>
public sealed class GrainInterface
{
    private readonly Func<GrainReferenceShared, IdSpan, GrainReference>? _create;

    internal GrainInterface(Type type, string name, Func<GrainReferenceShared, IdSpan, GrainReference>? create)
    {
        Type = type;
        Name = name;
        _create = create;
    }

    /// <summary>The interface; an open generic type for a definition.</summary>
    public Type Type { get; }

    /// <summary>The text of its GrainInterfaceType; with type arguments in the manifest's notation when it is constructed.</summary>
    public string Name { get; }

    /// <summary>The reference class of a generic definition; null otherwise.</summary>
    internal Type? ReferenceDefinition { get; init; }

    /// <summary>A reference to a grain through this interface.</summary>
    /// <exception cref="InvalidOperationException">The interface is a generic definition.</exception>
    public GrainReference CreateReference(GrainReferenceShared shared, IdSpan key) =>
        _create is { } create ? create(shared, key) : throw new InvalidOperationException("The grain interface " + Name + " is generic: a reference needs its type arguments.");
}
