using ActOp.Interleaving.Tests.Exploring;

namespace System.Threading;

/// <summary>The compiler takes this one for the lock statements of the sources, because it is theirs and has the name.</summary>
internal sealed class Lock
{
    private int _owner;
    private int _depth;

    /// <summary>Not a step: only checks ask, about their own thread. The check at the end is in no lock and needs none.</summary>
    public bool IsHeldByCurrentThread => !Interleaver.IsModelled || (_depth > 0 && _owner == Environment.CurrentManagedThreadId);

    public Scope EnterScope()
    {
        // The check at the end is no thread of the model.
        if (Interleaver.IsModelled)
        {
            var self = Environment.CurrentManagedThreadId;
            Interleaver.Current.Block(() => _depth == 0 || _owner == self, isLock: true);
            _owner = self;
            _depth++;
        }

        return new Scope(this);
    }

    public readonly ref struct Scope(Lock owner)
    {
        public void Dispose()
        {
            if (!Interleaver.IsModelled)
                return;
            Interleaver.Fence();
            owner._depth--;
        }
    }
}
