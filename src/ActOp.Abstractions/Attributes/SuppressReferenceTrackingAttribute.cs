namespace Orleans;

/// <summary>Objects of the marked type are never shared or cyclic: their identity within a message is not kept.</summary>
[AttributeUsage(AttributeTargets.Class)]
public sealed class SuppressReferenceTrackingAttribute : Attribute
{
}
