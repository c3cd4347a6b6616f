namespace ActOp.Configuration;

/// <summary>
/// How much memory a silo or client takes for what it reads of one message. A few bytes can describe much: an array of nulls of a large
/// struct takes one byte per item. A message that would take more is refused: its call fails with a <c>SerializerException</c>.
/// </summary>
/// <remarks>
/// The limit of a message is <see cref="DecodedBytesPerMessage"/> plus <see cref="MaxDecodedBytesPerByte"/> times its length. Counted are
/// objects and the items of collections, by an estimate, and what is gone over to hash and compare keys that refer to other objects.
/// </remarks>
public sealed class SerializationLimitOptions
{
    /// <summary>Bytes of memory per byte of the message. 128 by default, which is several times what usual data need.</summary>
    public int MaxDecodedBytesPerByte { get; set; } = 128;

    /// <summary>Bytes of memory that each message may take beside, so that short messages may have a few large objects. 64 KiB.</summary>
    public int DecodedBytesPerMessage { get; set; } = 64 * 1024;

    /// <summary>The limit of a message of so many bytes.</summary>
    internal long LimitOf(int bytes) => DecodedBytesPerMessage + ((long)MaxDecodedBytesPerByte * bytes);
}
