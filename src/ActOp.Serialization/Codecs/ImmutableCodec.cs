using ActOp.Wire;
using Orleans.Concurrency;

namespace ActOp.Serialization.Codecs;

/// <summary>The value; never copied.</summary>
internal sealed class ImmutableCodec<T> : Codec<Immutable<T>>
{
    public override bool IsImmutable => true;

    public override Immutable<T> Copy(Immutable<T> value, CopyContext context) => value;

    public override void Write(ref WireWriter writer, Immutable<T> value) => Codec<T>.Default.Write(ref writer, value.Value);

    public override Immutable<T> Read(ref WireReader reader) => new(Codec<T>.Default.Read(ref reader));
}
