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
    EquatableArray<ReferenceMethodModel> Methods,
    ProxyModel Proxy)
{
    /// <summary>The reference class as an unbound generic type in source text.</summary>
    public string OpenReferenceClass =>
        "global::ActOpGenerated." + ReferenceClass + (Arity == 0 ? "" : "<" + new string(',', Arity - 1) + ">");
}

/// <summary>The base class of a reference.</summary>
/// <param name="Base">The class.</param>
/// <param name="IsReference">It is GrainReference or derives from it, so that the runtime makes references.</param>
/// <param name="Constructors">The parameters of each constructor.</param>
internal sealed record ProxyModel(string Base, bool IsReference, EquatableArray<string> Constructors);

/// <summary>
/// One call class: a method of the interface that declares it, or of an extension that inherits it from an interface that is none.
/// </summary>
/// <param name="Component">The interface of the extension that is called, in source text; empty if it is none.</param>
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
    string Channel,
    ReturnKind Return,
    string ResultType,
    string Component,
    EquatableArray<ArgumentModel> Arguments,
    CustomModel? Custom)
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
    EquatableArray<string> ArgumentTypes,
    string CustomSend,
    bool AsksBase);

/// <summary>A request whose base class is the application's.</summary>
/// <param name="Base">The base class.</param>
/// <param name="IsSent">References send it through the runtime, so a call can carry it.</param>
/// <param name="IsRequest">The base class derives from RequestBase.</param>
/// <param name="InnerModifiers">With which InvokeInner is declared.</param>
/// <param name="Services">What the constructor of the base class takes.</param>
/// <param name="Initializers">Statements for the constructor.</param>
/// <param name="AddsOptions">The base class has AddInvokeMethodOptions.</param>
/// <param name="Modifiers">With which the members of <see cref="MemberNames"/> are declared; empty for those that are not.</param>
/// <param name="Initializer">The method that makes what the reference returns, or empty.</param>
/// <param name="ProxyMethod">The method of the reference that sends it, or empty for the usual one.</param>
/// <param name="State">Members of base classes that travel with the request.</param>
internal sealed record CustomModel(
    string Base,
    bool IsSent,
    bool IsRequest,
    bool IsExtension,
    string ReturnType,
    string InnerModifiers,
    EquatableArray<string> Services,
    EquatableArray<string> Initializers,
    bool AddsOptions,
    EquatableArray<string> Modifiers,
    string Initializer,
    string ProxyMethod,
    EquatableArray<CustomStateModel> State)
{
    /// <summary>The members of IInvokable.</summary>
    public static readonly string[] MemberNames =
    [
        "GetTarget", "SetTarget", "GetArgumentCount", "GetArgument", "SetArgument", "IsCancellable", "GetCancellationToken", "TryCancel",
        "GetActivityName", "GetDefaultResponseTimeout", "GetInterfaceName", "GetInterfaceType", "GetMethod", "GetMethodName", "Invoke",
        "Dispose",
    ];

    /// <summary>Members that depend on the arguments of the method: every request has its own.</summary>
    public static bool IsOfArguments(string name) => Array.IndexOf(MemberNames, name) <= 7;

    /// <summary>The modifiers of a member; empty if it is not declared.</summary>
    public string Modifier(string name) => Modifiers.ToArray()[Array.IndexOf(MemberNames, name)];
}

/// <summary>A member with an id of a base class of a request.</summary>
internal sealed record CustomStateModel(string Owner, MemberModel Member);

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
