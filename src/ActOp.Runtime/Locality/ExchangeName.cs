using ActOp.Partitioning;
using Orleans;

namespace ActOp.Runtime.Locality;

/// <summary>The name of an exchange on the wire.</summary>
[GenerateSerializer]
internal readonly record struct ExchangeName(ulong Origin, long Epoch, long Sequence)
{
    internal static ExchangeName Of(ExchangeId id) => new(id.Origin, id.Epoch, id.Sequence);

    internal ExchangeId ToId() => new(Origin, Epoch, Sequence);
}
