namespace ActOp.Generators.Model;

/// <summary>One grain interface.</summary>
/// <param name="Calls">The methods that it declares itself.</param>
/// <param name="ForeignCalls">Methods of bases for which no other assembly has generated code.</param>
/// <param name="Methods">All methods, inherited ones included.</param>
internal sealed record InterfaceModel(
    string HintName,
    string ReferenceClass,
    string Accessibility,
    string TypeParameters,
    int Arity,
    string Constraints,
    string InterfaceType,
    string OpenInterfaceType,
    string WireName,
    EquatableArray<CallModel> Calls,
    EquatableArray<CallModel> ForeignCalls,
    EquatableArray<ReferenceMethodModel> Methods)
{
    /// <summary>The reference class as an unbound generic type in source text.</summary>
    public string OpenReferenceClass => "global::ActOpGenerated." + ReferenceClass + (Arity == 0 ? "" : "<" + new string(',', Arity - 1) + ">");
}
