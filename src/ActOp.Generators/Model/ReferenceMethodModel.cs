namespace ActOp.Generators.Model;

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
