namespace ActOp.Channels;

/// <summary>
/// Sends the calls of the method, or of all methods that the interface declares, and their answers, over connections of their own, so that
/// large ones do not delay others. Silos and clients must have a channel of this name (<c>AddChannels</c>), or do not start. A silo or
/// client without any channel ignores the attribute.
/// </summary>
/// <remarks>The attribute of a method goes before that of its interface. Calls over different channels are in no order.</remarks>
/// <param name="name">The name of the channel.</param>
[AttributeUsage(AttributeTargets.Interface | AttributeTargets.Method, Inherited = false)]
public sealed class ChannelAttribute(string name) : Attribute
{
    /// <summary>The name of the channel.</summary>
    public string Name { get; } = name;
}
