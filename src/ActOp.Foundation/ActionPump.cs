namespace ActOp.Foundation;

/// <summary>Performs what a protocol, which is a pure state machine, has decided to do.</summary>
/// <remarks>
/// Used on the turns of one target. What is added meanwhile is performed too, in order, and each action once: a step that is entered by an
/// action, as a call to this silo may be, leaves what it adds to the run that goes on.
/// </remarks>
/// <param name="actions">Where the protocol collects its actions.</param>
/// <param name="perform">Performs one and throws nothing: one that fails must take no other with it.</param>
internal sealed class ActionPump<TAction>(List<TAction> actions, Action<TAction> perform)
{
    private bool _isRunning;

    /// <summary>Performs all. False if a run goes on.</summary>
    internal bool Run()
    {
        if (_isRunning)
            return false;
        _isRunning = true;
        try
        {
            for (var next = 0; next < actions.Count; next++)
                perform(actions[next]);
        }
        finally
        {
            actions.Clear();
            _isRunning = false;
        }

        return true;
    }
}
