namespace ActOp.Generators.Model;

/// <summary>One call class: a method of the interface that declares it.</summary>
internal sealed record CallModel(
    string ClassName,
    string Accessibility,
    string TypeParameters,
    int Arity,
    string Constraints,
    string InterfaceType,
    string OpenInterfaceType,
    string InterfaceName,
    string MethodName,
    EquatableArray<string> TypeParameterNames,
    EquatableArray<string> MethodTypeParameterNames,
    ulong Id,
    int Options,
    long TimeoutTicks,
    ReturnKind Return,
    string ResultType,
    bool IsExtension,
    EquatableArray<ArgumentModel> Arguments)
{
    /// <summary>The class as an unbound generic type in source text.</summary>
    public string OpenClass => "global::ActOpGenerated." + ClassName + (Arity == 0 ? "" : "<" + new string(',', Arity - 1) + ">");
}
