namespace ActOp.Mesh;

/// <summary>A link's way: one of the first three, then Held, Open, Closed. Any phase may be followed by Closed.</summary>
internal enum LinkPhase
{
    /// <summary>We dialled and wait for the other end's greeting.</summary>
    AwaitGreeting,

    /// <summary>We accepted and wait for the dialler's hello.</summary>
    AwaitHello,

    /// <summary>We dialled, sent our hello and wait for the welcome.</summary>
    AwaitWelcome,

    /// <summary>Shaken hands; waits for the other links of its session. Nothing is read.</summary>
    Held,

    /// <summary>Frames flow.</summary>
    Open,

    /// <summary>The stream is gone.</summary>
    Closed,
}
