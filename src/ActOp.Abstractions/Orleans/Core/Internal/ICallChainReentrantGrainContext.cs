namespace Orleans.Core.Internal;

/// <summary>An activation that calls of an open call chain may re-enter.</summary>
public interface ICallChainReentrantGrainContext
{
    /// <summary>One more section of the call chain is open.</summary>
    void OnEnterReentrantSection(Guid reentrancyId);

    /// <summary>One section of the call chain has ended; calls re-enter until the last one has.</summary>
    void OnExitReentrantSection(Guid reentrancyId);
}
