namespace Orleans.Serialization;

/// <summary>There is no codec for a type: it has neither a built-in nor a generated one.</summary>
public sealed class CodecNotFoundException : SerializerException
{
    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public CodecNotFoundException(string message)
        : base(message)
    {
    }
}
