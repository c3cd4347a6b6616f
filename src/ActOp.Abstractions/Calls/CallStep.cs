namespace ActOp.Calls;

/// <summary>What a mailbox has to do with a call that it takes out.</summary>
internal enum CallStep : byte
{
    /// <summary>It is a request: admit it, run the method.</summary>
    Request,

    /// <summary>The method that ran asynchronously has ended away from the turn: finish the request.</summary>
    Finish,

    /// <summary>It is an answer: go on with the caller.</summary>
    Resume,
}
