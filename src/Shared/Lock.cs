namespace System.Threading;

/// <summary>The lock of .NET 9, for .NET 8: what of it is used here. The compiler knows it by its name.</summary>
internal sealed class Lock
{
    private readonly object _gate = new();

    /// <summary>Whether this thread is in it.</summary>
    public bool IsHeldByCurrentThread => Monitor.IsEntered(_gate);

    /// <summary>Enters.</summary>
    public void Enter() => Monitor.Enter(_gate);

    /// <summary>Enters, if no other thread is in it.</summary>
    public bool TryEnter() => Monitor.TryEnter(_gate);

    /// <summary>Leaves.</summary>
    public void Exit() => Monitor.Exit(_gate);

    /// <summary>Enters; disposing leaves.</summary>
    public Scope EnterScope()
    {
        Enter();
        return new Scope(this);
    }

    /// <summary>The time in the lock.</summary>
    public readonly ref struct Scope(Lock entered)
    {
        /// <summary>Leaves.</summary>
        public void Dispose() => entered.Exit();
    }
}
