namespace Orleans;

/// <summary>Members that have their default value are not written.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct)]
public sealed class OmitDefaultMemberValuesAttribute : Attribute
{
}
