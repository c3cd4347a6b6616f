namespace ActOp.Generators.Model;

/// <summary>One serialized member.</summary>
/// <param name="Id">Its id among the members of its type.</param>
/// <param name="Name">The property or field.</param>
/// <param name="Value">Type and how it is written and copied.</param>
/// <param name="IsDirect">True when generated code can read the member by name.</param>
/// <param name="IsSettable">True when generated code can set the member by name.</param>
/// <param name="Field">The field behind the member, when it must be reached by an accessor.</param>
internal sealed record MemberModel(uint Id, string Name, ArgumentModel Value, bool IsDirect, bool IsSettable, string Field);
