namespace ActOp.Placement.Tests.Locality;

/// <summary>A grain that talks to another one and counts what it was told.</summary>
public interface ITalkGrain : IGrainWithIntegerKey
{
    ValueTask<int> Say(int word);

    ValueTask<bool> Talk(long other, int words);

    [AlwaysInterleave]
    ValueTask<SiloAddress> Where();

    [AlwaysInterleave]
    ValueTask<int> Heard();
}
