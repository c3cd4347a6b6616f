using ActOp.Calls;
using ActOp.Grains;

namespace Orleans.Runtime;

/// <summary>A reference to a grain: its identity and the interface it is called through. Generated classes derive from it.</summary>
/// <remarks>May be used from any thread. Equality is that of the grain's id.</remarks>
public class GrainReference : IAddressable, IEquatable<GrainReference>
{
    private readonly IdSpan _key;

    /// <summary>
    /// Where the grain was found last: its activation in this process, or the runtime's entry of the silo that has it. Both say themselves
    /// when they are void.
    /// </summary>
    internal object? Hint;

    /// <summary>Creates a reference; called by generated code.</summary>
    protected GrainReference(GrainReferenceShared shared, IdSpan key)
    {
        Shared = shared;
        _key = key;
    }

    /// <summary>The grain's id.</summary>
    public GrainId GrainId => GrainId.Create(Shared.GrainType, _key);

    /// <summary>The interface's name.</summary>
    public virtual string InterfaceName => Shared.InterfaceName;

    /// <summary>The interface's type.</summary>
    public GrainInterfaceType InterfaceType => Shared.InterfaceType;

    /// <summary>The interface's version.</summary>
    public ushort InterfaceVersion => 0;

    internal GrainReferenceShared Shared { get; }

    /// <inheritdoc/>
    public static bool operator ==(GrainReference? left, GrainReference? right) => left is null ? right is null : left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(GrainReference? left, GrainReference? right) => !(left == right);

    /// <summary>The same grain through another interface; whether the grain has it shows at the first call.</summary>
    /// <exception cref="ArgumentException">The type is no interface.</exception>
    public virtual TGrainInterface Cast<TGrainInterface>()
        where TGrainInterface : IAddressable => this is TGrainInterface same ? same : (TGrainInterface)References.Cast(this, typeof(TGrainInterface));

    /// <summary>A hash that is the same in every process.</summary>
    public uint GetUniformHashCode() => GrainId.GetUniformHashCode();

    /// <inheritdoc/>
    public bool Equals(GrainReference? other) => other is not null && GrainId.Equals(other.GrainId);

    /// <inheritdoc/>
    public sealed override bool Equals(object? obj) => obj is GrainReference other && Equals(other);

    /// <inheritdoc/>
    public sealed override int GetHashCode() => GrainId.GetHashCode();

    /// <inheritdoc/>
    public override string ToString() => "GrainReference:" + GrainId + ":" + InterfaceType;
}
