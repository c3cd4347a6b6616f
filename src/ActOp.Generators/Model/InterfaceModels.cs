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
    public string OpenReferenceClass =>
        "global::ActOpGenerated." + ReferenceClass + (Arity == 0 ? "" : "<" + new string(',', Arity - 1) + ">");
}

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
    /// <summary>The position of the cancellation token; -1 if the method takes none.</summary>
    public int TokenIndex => Array.FindIndex(Arguments.ToArray(), static a => a.IsToken);

    /// <summary>The class as an unbound generic type in source text.</summary>
    public string OpenClass => "global::ActOpGenerated." + ClassName + (Arity == 0 ? "" : "<" + new string(',', Arity - 1) + ">");
}

/// <summary>One parameter of a grain method.</summary>
/// <param name="Type">The type in source text.</param>
/// <param name="Primitive">How it is written inline, see <c>Primitives</c>; empty when its codec writes it.</param>
/// <param name="SkipCopy">True when values are known to be immutable.</param>
internal sealed record ArgumentModel(string Type, string Primitive, bool SkipCopy)
{
    /// <summary>In <see cref="Primitive"/>: a cancellation token, which the cancellation of the call replaces.</summary>
    public const string Token = "Token";

    public bool IsToken => Primitive == Token;

    public bool IsGrainToken => IsGrainTokenType(Type);

    public static bool IsGrainTokenType(string type) => type == "global::Orleans.GrainCancellationToken";
}

/// <summary>One method of a reference class: implements the interface's method by sending its call.</summary>
internal sealed record ReferenceMethodModel(
    string Interface,
    string Name,
    string TypeParameters,
    string ReturnType,
    ReturnKind Return,
    string ResultType,
    bool OneWay,
    string CallType,
    EquatableArray<string> ArgumentTypes);

/// <summary>What a grain method returns.</summary>
internal enum ReturnKind
{
    Void,
    Task,
    TaskOf,
    ValueTask,
    ValueTaskOf,
    AsyncEnumerable,
    Unsupported,
}

/// <summary>What was found in assemblies named by [GenerateCodeForDeclaringAssembly].</summary>
internal sealed record DeclaredElsewhere(
    EquatableArray<InterfaceModel> Interfaces, EquatableArray<ClassModel> Classes, EquatableArray<CodecModel> Codecs);
