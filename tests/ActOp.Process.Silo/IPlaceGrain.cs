using Orleans.Concurrency;

namespace ActOp.Process.Silo;

/// <summary>A grain that says where it is and can keep a caller waiting for ever.</summary>
public interface IPlaceGrain : IGrainWithIntegerKey
{
    /// <summary>Silo port of the process that runs this activation.</summary>
    [AlwaysInterleave]
    ValueTask<int> Port();

    /// <summary>Calls of <see cref="Hang"/>, <see cref="HangBeside"/> and <see cref="HangOn"/> that this activation has got.</summary>
    [AlwaysInterleave]
    ValueTask<int> Hanging();

    /// <summary>Never ends.</summary>
    Task Hang();

    /// <summary>As <see cref="Hang"/>, while others hang.</summary>
    [AlwaysInterleave]
    Task HangBeside();

    /// <summary>Waits for <see cref="HangBeside"/> of another grain.</summary>
    Task HangOn(long other);

    /// <summary>A turn that gives up its thread in between, so that a stop meets calls under way.</summary>
    Task<int> Work();
}
