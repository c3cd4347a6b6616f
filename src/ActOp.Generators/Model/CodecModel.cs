namespace ActOp.Generators.Model;

/// <summary>A type with [GenerateSerializer].</summary>
/// <param name="Creation">"new", "accessor" (a constructor that is not accessible or has required members) or "uninitialized".</param>
/// <param name="Base">The base class that has a codec too, or nothing.</param>
/// <param name="Parameters">Members by the position of a record's parameters.</param>
/// <param name="Members">Members by [Id].</param>
internal sealed record CodecModel(
    string ClassName,
    string TypeParameters,
    int Arity,
    string Constraints,
    string Type,
    string OpenType,
    string WireName,
    bool IsEnum,
    bool IsStruct,
    bool IsAbstract,
    bool IsImmutable,
    bool IsSealed,
    bool IsReadOnly,
    bool SuppressTracking,
    string Creation,
    string Base,
    bool HasParameters,
    EquatableArray<MemberModel> Parameters,
    EquatableArray<MemberModel> Members)
{
    /// <summary>Groups in the order in which they are written.</summary>
    public IEnumerable<EquatableArray<MemberModel>> Groups => HasParameters ? [Parameters, Members] : [Members];
}
