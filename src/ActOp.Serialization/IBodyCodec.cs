using ActOp.Wire;

namespace ActOp.Serialization;

/// <summary>A codec of a class whose body can be written behind a header that names the type.</summary>
internal interface IBodyCodec
{
    /// <summary>False when identity and cycles do not matter.</summary>
    bool IsTracked { get; }

    /// <summary>Writes the object without a header.</summary>
    void WriteObject(ref WireWriter writer, object value);

    /// <summary>Reads the object behind a header at <paramref name="at"/>; -1 when it is not tracked.</summary>
    object ReadObject(ref WireReader reader, int at);
}
