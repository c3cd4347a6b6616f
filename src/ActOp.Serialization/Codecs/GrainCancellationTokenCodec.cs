using ActOp.Wire;
using Orleans;

namespace ActOp.Serialization.Codecs;

/// <summary>A token as its id and whether it is cancelled. What is read belongs to no grain yet.</summary>
internal sealed class GrainCancellationTokenCodec : Codec<GrainCancellationToken?>
{
    private const byte Null = 0;
    private const byte Live = 1;
    private const byte Cancelled = 2;

    public override bool IsImmutable => false;

    public override GrainCancellationToken? Copy(GrainCancellationToken? value, CopyContext context) =>
        value is null ? null : new GrainCancellationToken(value.Id, value.IsCancelled);

    public override void Write(ref WireWriter writer, GrainCancellationToken? value)
    {
        writer.WriteByte(value is null ? Null : value.IsCancelled ? Cancelled : Live);
        if (value is not null)
            writer.WriteGuid(value.Id);
    }

    public override GrainCancellationToken? Read(ref WireReader reader)
    {
        var kind = reader.ReadByte();
        return kind == Null ? null : new GrainCancellationToken(reader.ReadGuid(), kind == Cancelled);
    }
}
