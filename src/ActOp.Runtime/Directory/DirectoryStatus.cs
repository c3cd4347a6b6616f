namespace ActOp.Runtime.Directory;

/// <summary>What became of a directory request.</summary>
internal enum DirectoryStatus : byte
{
    /// <summary>Done: the location is the registered one (lookup), the own one (register), or gone (unregister).</summary>
    Ok = 0,

    /// <summary>The grain is registered nowhere.</summary>
    NotFound = 1,

    /// <summary>Another activation is registered: the location in the reply is the winner.</summary>
    Conflict = 2,

    /// <summary>
    /// The silo does not own the slot in its view: compare the reply's view with the own one, refresh the older, ask again.
    /// </summary>
    WrongOwner = 3,

    /// <summary>The silo owns the slot but has not taken it over yet: ask again shortly.</summary>
    NotReady = 4,

    /// <summary>The grain may still run on a silo that died without saying so: ask again when its lease has ended.</summary>
    Leased = 5,

    /// <summary>The registering silo is dead in, or not yet known to, the owner's view.</summary>
    UnknownSilo = 6,
}
